import type { ConnectionConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import {
  type HubSpotFault,
  type HubSpotSandbox,
  startHubSpotSandbox,
} from '../stand-ins/hubspot/hubspot-sandbox.ts';
import type { Random } from '../../src/demo/random.ts';
import { createHubSpotTarget, type HubSpotTarget } from '../../src/targets/hubspot/hubspot-target.ts';
import type { Target } from '../../src/ports/target.ts';
import { atOnceInPortal, type Customs, inPortal } from './customs.ts';
import { FaultChances } from './fault-chances.ts';
import type { Life } from './life.ts';
import type { Moment, OnlineTable } from './online-table.ts';
import { pauseProperty, PortalTable, propertyOf, statusProperty } from './portal-table.ts';
import type { SimClock } from './sim-clock.ts';
import { tokensOf } from './tokens.ts';
import { randomHubSpotFaults } from './random-faults.ts';

export { propertyOf };

/** How a portal of the simulation behaves. */
export interface PortalSettings {
  readonly order: 'shuffled' | 'input';
  readonly partial: '207' | '200';
  readonly traceIds: boolean;
  readonly trim: boolean;
  readonly limits: { readonly tenSeconds: number; readonly daily: number } | null;
  /** Type of the property for the follow-up. */
  readonly followUp: 'datetime' | 'string';
}

type PortalConfig = Extract<ConnectionConfig['target'], { type: 'hubspot' }>;

/** Opens a portal in which people work, and processes that live one after the other, or at once. */
export async function openPortal(
  settings: PortalSettings,
  { hasStatus, hasPause }: { readonly hasStatus: boolean; readonly hasPause: boolean },
  clock: SimClock,
  random: Random,
): Promise<OnlineTable> {
  const { followUp, ...behaviour } = settings;
  const sandbox = await startHubSpotSandbox({ ...behaviour, clock, searchLagMs: 0 });
  if (followUp === 'string') {
    sandbox.person.addProperty({ name: propertyOf('nextFollowUpAt'), type: 'string', fieldType: 'text' });
  }
  const config: PortalConfig = {
    type: 'hubspot',
    token: new Secret(sandbox.token),
    timeZone: 'UTC',
    idColumn: 'lead_id',
    ...(hasStatus && { statusColumn: statusProperty }),
    ...(hasPause && { pauseColumn: pauseProperty }),
  };
  return new Portal(sandbox, config, clock, random, {
    hasStatus,
    hasPause,
    isFollowUpText: followUp === 'string',
    trims: settings.trim,
  });
}

class Portal implements OnlineTable {
  readonly table: PortalTable;
  readonly config: PortalConfig;
  /** Typed between a look and its write: HubSpot has no write that depends on what a record shows. */
  readonly typed = new Set<string>();
  readonly #sandbox: HubSpotSandbox;
  readonly #clock: SimClock;
  readonly #faults = new FaultChances<HubSpotFault>();
  /** The process whose operation is under way. */
  #working: { readonly life: Life; isInGap: boolean; readonly isWrite: boolean } | null = null;
  #now: Moment | null = null;
  readonly #targets: HubSpotTarget[] = [];

  constructor(
    sandbox: HubSpotSandbox,
    config: PortalConfig,
    clock: SimClock,
    random: Random,
    settings: ConstructorParameters<typeof PortalTable>[1],
  ) {
    this.#sandbox = sandbox;
    this.config = config;
    this.#clock = clock;
    this.table = new PortalTable(
      sandbox,
      settings,
      () => random.below(3) === 0,
      (text) => {
        if (this.#now?.kind === 'gap') for (const token of tokensOf(text)) this.typed.add(token);
      },
    );
    sandbox.before = ({ kind }) => this.#carryOut(kind);
  }

  get now(): Moment | null {
    return this.#now;
  }

  target(life: Life, { fields }: Pick<ConnectionConfig, 'name' | 'fields'>): Target {
    const { token: accessToken, timeZone, idColumn, statusColumn, pauseColumn } = this.config;
    const target = createHubSpotTarget({
      apiUrl: this.#sandbox.url,
      accessToken,
      timeZone,
      fields,
      idColumn,
      ...(statusColumn !== undefined && { statusColumn }),
      ...(pauseColumn !== undefined && { pauseColumn }),
      clock: { now: () => this.#clock.now(), random: () => this.#clock.random() },
    });
    this.#targets.push(target);
    const work = async <T>(isWrite: boolean, run: () => Promise<T>): Promise<T> => {
      this.#working = { life, isInGap: false, isWrite };
      try {
        return await run();
      } finally {
        this.#working = null;
      }
    };
    return {
      name: target.name,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      contentTag: (signal) => work(false, () => target.contentTag?.(signal) ?? Promise.resolve(null)),
      place: (signal) => work(false, () => target.place?.(signal) ?? Promise.resolve(null)),
      isLeft: (place, signal) => work(false, () => target.isLeft?.(place, signal) ?? Promise.resolve(false)),
      open: (options, signal) =>
        work(false, async () => {
          const snapshot = await target.open(options, signal);
          this.table.isMade ||= options.create;
          return snapshot;
        }),
      write: (...args) => work(true, () => target.write(...args)),
    };
  }

  fail(random: Random): string | null {
    return this.#faults.fail(randomHubSpotFaults(random), random);
  }

  recover(): void {
    this.#faults.recover();
  }

  habits(customs: Customs): Customs {
    return inPortal(customs);
  }

  atOnce(customs: Customs, moment: Moment): Customs {
    return atOnceInPortal(customs, moment);
  }

  /** People act and processes die between any two requests. */
  async #carryOut(kind: string): Promise<HubSpotFault | undefined> {
    const working = this.#working;
    if (working === null) return undefined;
    this.#now = { kind: working.isInGap ? 'gap' : null, isMoved: false };
    const end = await working.life.request(kind);
    this.#now = null;
    // What a write decides by is read at its beginning.
    if (working.isWrite && kind === 'batch-read') working.isInGap = true;
    if (end === 'lost') return { kind: 'reset' };
    return end === 'unheard' ? { kind: 'reset-after' } : (this.#faults.next() ?? undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const target of this.#targets) await target[Symbol.asyncDispose]();
    await this.#sandbox.close();
  }
}
