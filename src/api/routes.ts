// Every route, put together from the files of the resources, and what follows from the table: the server must have a
// handler for every name, clients get the types of each path from it, and the printed OpenAPI is made from it. So none of
// them can tell of a route that another does not know.

import type { z } from 'zod';
import { actionDocuments, actionRoutes } from './actions.ts';
import { commonDocuments, type RouteSpec } from './common.ts';
import { daemonDocuments, daemonRoutes } from './daemon.ts';
import { editorDocuments, editorRoutes } from './editors.ts';
import { explainDocuments, explainRoutes } from './explain.ts';
import { feedDocuments, feedRoutes } from './feed.ts';
import { gitDocuments, gitRoutes } from './git.ts';
import { grepDocuments, grepRoutes } from './grep.ts';
import { hookDocuments, hookRoutes } from './hooks.ts';
import { hubDocuments, hubRoutes } from './hub.ts';
import { noticeDocuments, noticeRoutes } from './notices.ts';
import { paneDocuments, paneRoutes } from './panes.ts';
import { restoreDocuments, restoreRoutes } from './restore.ts';
import { sessionDocuments, sessionRoutes } from './sessions.ts';
import { shellDocuments, shellRoutes } from './shells.ts';
import { targetDocuments, targetRoutes } from './targets.ts';
import { timelineDocuments, timelineRoutes } from './timeline.ts';
import { usageDocuments, usageRoutes } from './usage.ts';
import { webDocuments, webRoutes } from './web.ts';

/** Documents that stand under their own name in the printed schemas. */
export const documents = {
  ...commonDocuments,
  ...paneDocuments,
  ...targetDocuments,
  ...daemonDocuments,
  ...explainDocuments,
  ...timelineDocuments,
  ...gitDocuments,
  ...grepDocuments,
  ...hookDocuments,
  ...actionDocuments,
  ...shellDocuments,
  ...noticeDocuments,
  ...webDocuments,
  ...editorDocuments,
  ...restoreDocuments,
  ...usageDocuments,
  ...hubDocuments,
  ...sessionDocuments,
  ...feedDocuments,
} as const;

export type DocumentName = keyof typeof documents;
export type Route = RouteSpec<DocumentName>;

export const routes = {
  ...paneRoutes,
  ...targetRoutes,
  ...explainRoutes,
  ...timelineRoutes,
  ...gitRoutes,
  ...grepRoutes,
  ...hookRoutes,
  ...actionRoutes,
  ...shellRoutes,
  ...sessionRoutes,
  ...noticeRoutes,
  ...webRoutes,
  ...editorRoutes,
  ...restoreRoutes,
  ...usageRoutes,
  ...hubRoutes,
  ...daemonRoutes,
  ...feedRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
export type RouteOf<Name extends RouteName> = (typeof routes)[Name];

/** As given out or in: nobody may change it on the way. */
export type Frozen<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

type Said<Name> = Name extends DocumentName ? z.input<(typeof documents)[Name]> : unknown;
type Read<Name> = Name extends DocumentName ? z.output<(typeof documents)[Name]> : unknown;
type BodyDocument<Name extends RouteName> =
  RouteOf<Name> extends { body: { document: infer Document } } ? Document : never;

/** What a client writes, and what a handler is given of it. */
export type BodyOf<Name extends RouteName> = [BodyDocument<Name>] extends [never]
  ? undefined
  : Said<BodyDocument<Name>>;
export type ReadBody<Name extends RouteName> = [BodyDocument<Name>] extends [never]
  ? undefined
  : Read<BodyDocument<Name>>;
export type QueryOf<Name extends RouteName> = z.input<RouteOf<Name>['query']>;
export type ReadQuery<Name extends RouteName> = z.output<RouteOf<Name>['query']>;
export type ReplyOf<Name extends RouteName> = Read<RouteOf<Name>['reply']>;

/** The names in braces of a path. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** The route that has this method and path. */
export type RouteAt<Method extends Route['method'], Path extends string> = {
  [Name in RouteName]: RouteOf<Name> extends { method: Method; path: Path } ? Name : never;
}[RouteName];

export type PathOf<Method extends Route['method']> = Extract<RouteOf<RouteName>, { method: Method }>['path'];
