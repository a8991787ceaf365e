import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Process } from './machine.ts';
import type { Planned } from './queue.ts';
import type { World } from './world.ts';

const require = createRequire(import.meta.url);
// The CommonJS objects of builtins can be changed; `syncBuiltinESMExports` shows the change to
// importing modules.
const promises: Record<string, unknown> = require('node:timers/promises');
const timers: Record<string, unknown> = require('node:timers');
const crypto: Record<string, unknown> = require('node:crypto');

/** Longer timers end at once, as in Node.js. */
const LONGEST_TIMER = 2 ** 31 - 1;

type Callback = (...args: unknown[]) => void;

/** What the code of a process gets for a timer. */
class VirtualTimer {
  readonly #plan: () => Planned;
  #planned: Planned | null = null;
  #isReferenced = true;

  constructor(plan: (fired: () => void) => Planned, work: () => void, repeats: boolean) {
    this.#plan = () =>
      plan(() => {
        this.#planned = null;
        if (repeats) this.#planned = this.#plan();
        work();
      });
    this.#planned = this.#plan();
  }

  cancel(): void {
    if (this.#planned) this.#planned.isCancelled = true;
    this.#planned = null;
  }

  refresh(): this {
    this.cancel();
    this.#planned = this.#plan();
    return this;
  }

  ref(): this {
    this.#isReferenced = true;
    return this;
  }

  unref(): this {
    this.#isReferenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#isReferenced;
  }

  close(): this {
    this.cancel();
    return this;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}

const lengthOf = (wait: unknown): number => {
  const milliseconds = Math.trunc(Number(wait ?? 1));
  return milliseconds >= 1 && milliseconds <= LONGEST_TIMER ? milliseconds : 1;
};

function timersOf(world: World) {
  const planAfter = (wait: number) => (fired: () => void) => world.timer(wait, fired);
  const planNow = (fired: () => void) => world.packet(0, world.process as Process, fired);
  const clear = (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.cancel();
  };
  return {
    setTimeout: (work: Callback, wait?: number, ...args: unknown[]) =>
      new VirtualTimer(planAfter(lengthOf(wait)), () => work(...args), false),
    setInterval: (work: Callback, wait?: number, ...args: unknown[]) =>
      new VirtualTimer(planAfter(lengthOf(wait)), () => work(...args), true),
    setImmediate: (work: Callback, ...args: unknown[]) =>
      new VirtualTimer(planNow, () => work(...args), false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
}

interface Replaced {
  readonly of: object;
  readonly name: string;
  readonly value: unknown;
}

function replacements(world: World): Replaced[] {
  const virtual = timersOf(world);
  const { random } = world;
  const clock = {
    now: () => world.monotonic,
    get timeOrigin() {
      return world.timeOrigin;
    },
  };
  const pause = (wait?: number, value?: unknown) =>
    new Promise((resolve) => virtual.setTimeout(() => resolve(value), wait));
  const nextTurn = (value?: unknown) =>
    new Promise((resolve) => virtual.setImmediate(() => resolve(value)));
  const integer = (least: number, below?: number) =>
    below === undefined ? random.integer(0, least - 1) : random.integer(least, below - 1);
  const all = (of: object, values: object) =>
    Object.entries(values).map(([name, value]): Replaced => ({ of, name, value }));
  return [
    ...all(globalThis, { ...virtual, performance: clock }),
    ...all(timers, virtual),
    ...all(promises, { setTimeout: pause, setImmediate: nextTurn }),
    ...all(Date, { now: () => Math.floor(world.wall) }),
    ...all(Math, { random: random.fraction }),
    ...all(crypto, {
      randomUUID: () => random.uuid(),
      randomBytes: (n: number) => random.bytes(n),
      randomInt: integer,
    }),
  ];
}

/**
 * Replaces time and chance for all modules of this process, and `more`. Returns the function that
 * restores them. `more`: properties of CommonJS builtins.
 */
export function replaceGlobals(world: World, more: readonly Replaced[] = []): () => void {
  const before = [...replacements(world), ...more].map(({ of, name, value }) => {
    const descriptor = Object.getOwnPropertyDescriptor(of, name)!;
    Object.defineProperty(of, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: descriptor.enumerable!,
    });
    return { of, name, descriptor };
  });
  syncBuiltinESMExports();
  return () => {
    for (const { of, name, descriptor } of before.reverse())
      Object.defineProperty(of, name, descriptor);
    syncBuiltinESMExports();
  };
}

export type { Replaced };
