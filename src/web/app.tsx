// Which page is shown at which address; and the page that says how to get in, or that nobody answers.

import type { ReactNode } from 'react';
import { ageLabel } from '../view/words.ts';
import { AgentPage } from './pages/agent.tsx';
import { AgentsPage } from './pages/agents.tsx';
import { AuditPage } from './pages/audit.tsx';
import { DiffPage } from './pages/diff.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { ShellsPage } from './pages/shells.tsx';
import { TargetsPage } from './pages/targets.tsx';
import { TimelinePage } from './pages/timeline.tsx';
import { Command, Empty, Link } from './parts/basics.tsx';
import { Frame } from './parts/frame.tsx';
import { kept } from './port.ts';
import { useModel, useNow, usePlace } from './state/hooks.ts';
import type { Model } from './state/model.ts';
import { refusalText } from './state/outcomes.ts';
import { pathOf } from './state/route.ts';
import { clockOf, dayOf } from './state/timeline.ts';

export function App(): ReactNode {
  const model = useModel();
  if (model.link === 'shut') return <ShutOut model={model} />;
  if (!model.isFilled) return <Waiting model={model} />;
  return (
    <Frame>
      <Page />
    </Frame>
  );
}

function Page(): ReactNode {
  const { page, id, tab } = usePlace();
  switch (page) {
    case 'overview':
      return <OverviewPage />;
    case 'agents':
      if (id === null) return <AgentsPage />;
      return tab === 'diff' ? <DiffPage key={id} id={id} /> : <AgentPage key={id} id={id} tab={tab} />;
    case 'sessions':
      return <SessionsPage id={id} />;
    case 'shells':
      return <ShellsPage id={id} />;
    case 'timeline':
      return <TimelinePage />;
    case 'audit':
      return <AuditPage />;
    case 'targets':
      return <TargetsPage />;
    case 'settings':
      return <SettingsPage id={id} />;
    case 'nowhere':
      return (
        <Empty title="There is no such page." isPage>
          <Link to={pathOf('overview')}>Overview</Link>
        </Empty>
      );
  }
}

/** The cookie is gone or too old, or the link was used: a terminal makes a new one. */
function ShutOut({ model }: { readonly model: Model }): ReactNode {
  return (
    <main className="entrance">
      <h1>agtmux</h1>
      <p>This browser is not signed in. Run this in a terminal, and open the address it prints:</p>
      <Command>agtmux web --open</Command>
      {model.trouble === null ? null : <p className="dim small">{refusalText(model.trouble)}</p>}
      <p className="dim small" role="status">
        This page continues as soon as you are signed in.
      </p>
    </main>
  );
}

/** Nothing that it said is kept here, only when: an old list would look like a true one. */
function LastHeard(): ReactNode {
  const now = useNow();
  const at = Number(kept('heard') ?? Number.NaN);
  if (!Number.isFinite(at)) return null;
  return (
    <p>
      Last connected {ageLabel(now - at)} ago, on {dayOf(at)} at {clockOf(at)}.
    </p>
  );
}

function Waiting({ model }: { readonly model: Model }): ReactNode {
  const isDown = model.trouble !== null;
  return (
    <main className="entrance">
      <h1>agtmux</h1>
      {isDown ? (
        <>
          <p>The daemon does not respond. Any command starts it, for example:</p>
          <Command>agtmux list</Command>
          <LastHeard />
        </>
      ) : null}
      <p className="waiting" role="status">
        <span className="spinner" aria-hidden="true" /> {isDown ? 'Retrying…' : 'Connecting…'}
      </p>
    </main>
  );
}
