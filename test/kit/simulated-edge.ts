// A daemon for suites of the hub that is none: a real feed and the real uplink over rows that were made up. Hundreds fit into one
// process.

import type { PaneRow } from '../../src/api/panes.ts';
import { createFeed, type Feed, type FeedRow } from '../../src/feed/feed.ts';
import type { HubShare } from '../../src/model/hub.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createRealRandom } from '../../src/platform/random.ts';
import type { OpenLink } from '../../src/uplink/link.ts';
import { Uplink, type UplinkParts } from '../../src/uplink/uplink.ts';

const random = createRealRandom();

export interface SimulatedEdgeOptions {
  readonly clock: Clock;
  /** For the life that speaks: a copy of a disk has another one. */
  readonly link: (life: string) => OpenLink;
  readonly onAsk?: UplinkParts['onAsk'];
  readonly log?: UplinkParts['log'];
  readonly share?: HubShare;
}

export class SimulatedEdge {
  readonly rows = new Map<string, PaneRow>();
  readonly #options: SimulatedEdgeOptions;
  #feed: Feed<FeedRow>;
  #offset = 0;
  uplink: Uplink;
  lastAudit = 0;

  constructor(options: SimulatedEdgeOptions) {
    this.#options = options;
    this.#feed = this.#newFeed(0);
    this.uplink = this.#newUplink();
  }

  put(key: string, row: PaneRow): void {
    this.rows.set(key, row);
    this.#feed.publish([{ key: `row:${key}`, value: row }]);
  }

  remove(key: string): void {
    this.rows.delete(key);
    this.#feed.publish([{ key: `row:${key}`, value: null }]);
  }

  get version(): number {
    return this.#feed.version();
  }

  /** Killed and started again: another epoch, the same rows, versions that go on; or back to where a backup was. */
  async restart(version = this.#feed.version() + 1_000): Promise<void> {
    void this.uplink.close();
    this.#feed.close();
    this.#feed = this.#newFeed(version);
    this.uplink = this.#newUplink();
  }

  async end(): Promise<void> {
    await this.uplink.close();
    this.#feed.close();
  }

  #newFeed(firstVersion: number): Feed<FeedRow> {
    return createFeed<FeedRow>({
      epoch: random.hex(8),
      firstVersion,
      snapshot: () => [...this.rows].map(([key, value]) => ({ key: `row:${key}`, value })),
    });
  }

  #newUplink(): Uplink {
    const { clock, link, onAsk = async () => null, log = async () => undefined, share = 'asks' } = this.#options;
    const life = random.hex(8);
    return new Uplink({
      ...{ clock, random, life, onAsk, log, version: 'simulated' },
      feed: this.#feed,
      toWall: (time) => 1_700_000_000_000 + time,
      open: link(life),
      share: () => share,
      allows: () => [],
      audit: async () => this.lastAudit,
      offset: () => this.#offset,
      raiseOffset: async (offset) => {
        this.#offset = offset;
      },
    });
  }
}
