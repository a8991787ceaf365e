import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config, RedisSettings } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Plans } from '../../src/limits/plans.ts';
import type { Event } from '../../src/observe/events.ts';
import { subjectOf } from '../../src/records/keys/subjects.ts';
import type { Key } from './clients.ts';
import { Gateway } from './gateway/gateway.ts';
import { Receiver } from './gateway/receiver.ts';
import { RedisServer } from './redis/server.ts';
import { Disk } from './world/disk.ts';
import { replaceGlobals } from './world/globals.ts';
import { Machine, Process } from './world/machine.ts';
import { Network } from './world/network.ts';
import { World } from './world/world.ts';

const net: Record<string, unknown> = createRequire(import.meta.url)('node:net');

const REDIS = 'redis';
const WEBHOOKS = {
  url: 'http://receiver.test/',
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
};

const SHIPPED = loadConfig({ env: { REDIS_URL: `redis://${REDIS}:6379/0` }, cwd: tmpdir() });

export const SHIPPED_PLANS: Plans = SHIPPED.plans;

export const REDIS_SETTINGS: RedisSettings = SHIPPED.redis!;

export interface SimulationOptions {
  readonly seed: number;
  /** 0: one gateway with the embedded state. */
  readonly gateways: number;
  readonly plans?: Plans;
  readonly redis?: Partial<NonNullable<Config['redis']>>;
  /** Called with events and the name of their process. */
  readonly heard?: (process: string, event: Event) => void;
}

/** Everything that a run consists of. */
export class Simulation {
  readonly world: World;
  readonly network: Network;
  readonly disk: Disk;
  readonly redis: RedisServer;
  readonly receiver: Receiver;
  readonly gateways: readonly Gateway[];
  readonly isEmbedded: boolean;
  /** Those that operators have created. */
  readonly keys: Key[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'storegate-simulation-'));
  readonly #restore: () => void;
  #plans: Plans;

  constructor({
    seed,
    gateways,
    plans = SHIPPED.plans,
    redis = {},
    heard: received,
  }: SimulationOptions) {
    this.world = new World(seed);
    this.network = new Network(this.world);
    this.disk = new Disk(this.world, this.#folder);
    this.isEmbedded = gateways === 0;
    const server = new Machine(REDIS, this.disk.folderOf(REDIS));
    this.redis = new RedisServer(this.world, new Process(REDIS, server, this.world.now));
    this.network.offer(REDIS, this.redis);
    this.receiver = new Receiver(this.world);
    this.#plans = plans;
    const settings = this.isEmbedded ? null : { ...REDIS_SETTINGS, ...redis };
    this.gateways = Array.from({ length: Math.max(1, gateways) }, (_, i) => {
      const machine = new Machine(`g${i + 1}`, this.disk.folderOf(`g${i + 1}`));
      const config = () => this.#configOf(machine, settings);
      return new Gateway(this.world, machine, config, received);
    });
    this.#restore = replaceGlobals(this.world, [
      ...this.disk.replacements(),
      { of: net, name: 'createConnection', value: this.network.connect },
      { of: globalThis, name: 'fetch', value: this.receiver.fetch },
    ]);
  }

  get plans(): Plans {
    return this.#plans;
  }

  /** Milliseconds in which failed attempts of an address count. */
  get failureWindow(): number {
    return SHIPPED.http.authFailureLimit.window;
  }

  /** The subjects of a key under the plans in force. */
  subjectOf({ id, plan, account }: Key): string {
    return subjectOf({ id, plan, account }, this.#plans);
  }

  /** All keys that count together with `key`. */
  keysBeside(key: Key): Key[] {
    const subject = this.subjectOf(key);
    return this.keys.filter((one) => this.subjectOf(one) === subject);
  }

  async start(): Promise<void> {
    for (const gateway of this.gateways) await this.world.settle(gateway.start());
  }

  usePlans(plans: Plans): void {
    this.#plans = plans;
    for (const gateway of this.gateways) gateway.usePlans(plans);
  }

  /** Ends everything, and restores time and chance. */
  close(): void {
    for (const gateway of this.gateways) gateway.kill();
    this.#restore();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #configOf({ folder }: Machine, redis: Config['redis']): Config {
    const webhooks = { ...SHIPPED.webhooks, ...WEBHOOKS };
    return { ...SHIPPED, redis, webhooks, data: folder, plans: this.#plans };
  }
}

/** Runs `work` in a simulation of its own. */
export async function simulate<T>(
  options: SimulationOptions,
  work: (one: Simulation) => Promise<T>,
): Promise<T> {
  const simulation = new Simulation(options);
  try {
    await simulation.start();
    return await work(simulation);
  } finally {
    simulation.close();
  }
}
