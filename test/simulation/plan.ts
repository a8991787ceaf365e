import { DAY, HOUR, MINUTE, SECOND } from '../../src/common/time.ts';
import type { Plan as KeyPlan, Plans } from '../../src/limits/plans.ts';
import type { Action, EditKind, Plan, Step } from './actions.ts';
import { SHIPPED_PLANS } from './simulation.ts';
import type { Direction } from './world/network.ts';
import { Random } from './world/random.ts';

function planOf(name: string, windows: KeyPlan['windows'], more: Partial<KeyPlan> = {}): KeyPlan {
  return { name, count: 'key', windows, ...more };
}

const minute = (limit: number, kind: 'fixed' | 'sliding' = 'fixed') =>
  ({ name: 'minute', kind, limit, span: MINUTE }) as const;
/** An hour that begins at half past in UTC. */
const inIndia = (limit: number) =>
  ({ name: 'hour', kind: 'calendar', limit, span: HOUR, zone: 'Asia/Kolkata' }) as const;
const day = (limit: number) => ({ name: 'day', kind: 'fixed', limit, span: DAY }) as const;

const PLANS: readonly KeyPlan[] = [
  planOf('small', [minute(10), day(400)]),
  planOf('sliding', [minute(12, 'sliding')]),
  planOf('short', [{ name: '10s', kind: 'fixed', limit: 4, span: 10 * SECOND }, minute(15)]),
  planOf('shared', [minute(20)], { count: 'account' }),
  planOf('narrow', [minute(30)], { concurrency: 4 }),
  planOf('calendar', [minute(15), inIndia(25)]),
  planOf('crowded', [minute(15)], { workers: 60 }),
  planOf('wide', [minute(600)]),
];

/** The plans of random runs. `factor`: of the limits per minute, for a changed plan. */
export function plansOfRuns(factor = 1): Plans {
  const changed = PLANS.map((plan) => ({
    ...plan,
    windows: plan.windows!.map((window) =>
      window.span === MINUTE ? { ...window, limit: Math.ceil(window.limit * factor) } : window,
    ),
  }));
  return { ...SHIPPED_PLANS, plans: new Map(changed.map((plan) => [plan.name, plan])) };
}

const KEYS = [
  'small',
  'small',
  'sliding',
  'short',
  'shared',
  'shared',
  'calendar',
  'narrow',
  'crowded',
  'wide',
];
/** The key that no one uses up. */
const WIDE = KEYS.length - 1;
/** Milliseconds of a stretch with actions. */
const STRETCH = 40 * SECOND;
/** Milliseconds after the beginning of a stretch, when all its faults are over. */
const CALM = 6 * MINUTE;
/** Milliseconds between the beginnings of two stretches. */
const GAPS = [MINUTE, 3 * MINUTE, 10 * MINUTE, HOUR, 8 * HOUR, 30 * HOUR];
/** Milliseconds that a clock is off beyond what usage is kept for. */
const FAR = [36 * DAY, 401 * DAY, 4 * 365 * DAY].flatMap((far) => [far, -far]);
const LENGTHS = [SECOND, 5 * SECOND, 20 * SECOND, 90 * SECOND, 10 * MINUTE];

/** What the actions of a stretch have in common: most are about one key and one gateway. */
class Stretch {
  readonly random: Random;
  /** 0: the embedded state. */
  readonly gateways: number;
  readonly #key: number;
  readonly #gateway: number;

  constructor(random: Random, gateways: number) {
    this.random = random;
    this.gateways = gateways;
    this.#key = this.#anyKey();
    this.#gateway = this.#anyGateway();
  }

  get key(): number {
    return this.random.isOnce(3) ? this.#anyKey() : this.#key;
  }

  get gateway(): number {
    return this.random.isOnce(3) ? this.#anyGateway() : this.#gateway;
  }

  /** A gateway, and the key that an operator changes there. */
  get target() {
    return { gateway: this.gateway, key: this.key };
  }

  get machine(): number | 'redis' {
    return this.gateways > 0 && this.random.isOnce(2) ? 'redis' : this.gateway;
  }

  #anyKey(): number {
    return this.random.integer(0, KEYS.length - 1);
  }

  #anyGateway(): number {
    return this.random.integer(0, Math.max(1, this.gateways) - 1);
  }
}

type Make = (stretch: Stretch) => Step;

interface Choice {
  readonly weight: number;
  readonly only?: 'redis';
  readonly make: Make;
}

const always = (weight: number, make: Make): Choice => ({ weight, make });
const withRedis = (weight: number, make: Make): Choice => ({ weight, make, only: 'redis' });

function clients(
  stretch: Stretch,
  manner: 'polite' | 'deaf',
  workers: number,
  pauses: readonly number[] = [60, 250, 1_000, 3_000],
  longest = 30,
): Step {
  const { random } = stretch;
  return {
    type: 'clients',
    manner,
    key: stretch.key,
    workers,
    gateway: random.isOnce(3) ? stretch.gateway : null,
    operation: random.oneOf(['read', 'read', 'read', 'search', 'login'] as const),
    pause: random.oneOf(pauses) * workers,
    backend: random.oneOf([2, 20, 400]),
    duration: random.integer(2, longest) * SECOND,
  };
}

const outageLength = (random: Random) => random.oneOf([30, 120, 400, 3_000, 20_000, MINUTE]);

const CHOICES: readonly Choice[] = [
  always(30, (one) => clients(one, 'polite', one.random.oneOf([1, 1, 2, 3]))),
  always(6, (one) => clients(one, 'polite', one.random.oneOf([16, 20, 60, 200]))),
  always(8, (one) => clients(one, 'deaf', 1)),
  always(6, (one) => clients(one, 'deaf', 1, [150, 250, 450, 700, 1_000, 2_000], 150)),
  always(6, (one) => ({ ...clients(one, 'polite', 1), key: null, operation: 'news' }) as Step),
  always(3, (one) => ({ type: 'guesses', gateway: one.gateway, count: one.random.integer(1, 70) })),
  always(4, (one) => ({ type: 'ban', ...one.target, length: one.random.oneOf(LENGTHS) })),
  ...(['lift', 'reset', 'revoke'] as const).map((type) =>
    always(2, (one) => ({ type, ...one.target })),
  ),
  always(2, (one) => ({ type: 'grant', ...one.target, units: one.random.integer(1, 8) })),
  withRedis(6, (one) => editOf(one, one.random.oneOf(EDITS), one.random.integer(0, 9))),
  always(2, (one) => ({ type: 'plans', factor: one.random.oneOf([0.5, 1, 2]) })),
  always(3, (one) => {
    const offset = one.random.oneOf([0, 500, -500, 40 * SECOND, HOUR, -HOUR, ...FAR]);
    return { type: 'clock', machine: one.machine, offset };
  }),
  always(2, (one) => {
    const jump = one.random.oneOf([500, 20 * SECOND, HOUR, ...FAR]);
    return { type: 'ahead', machine: one.machine, jump };
  }),
  always(2, (one) => {
    const drift = one.random.oneOf([0, 1e-4, -1e-4]);
    return { type: 'drift', machine: one.machine, drift };
  }),
  withRedis(7, (one) => cut(one, [['to', 'from'], ['to'], ['from']], outageLength(one.random))),
  withRedis(3, ({ gateway, random }) => {
    const delay = random.oneOf([10, 30, 60, 300]);
    return { type: 'slow', gateway, delay, duration: outageLength(random) };
  }),
  withRedis(4, ({ random }) => {
    const lag = random.oneOf([0, 0, 50, 1_000]);
    return { type: 'redis ends', duration: outageLength(random), lag };
  }),
  ...(['redis hangs', 'redis is demoted'] as const).map((type) =>
    withRedis(2, ({ random }) => ({ type, duration: outageLength(random) })),
  ),
  ...(['kill', 'restart', 'power'] as const).map((type) =>
    always(2, ({ gateway, random }) => {
      return { type, gateway, duration: random.oneOf([0, SECOND, 20 * SECOND]) };
    }),
  ),
  ...(['stop', 'suspend'] as const).map((type) =>
    always(1, ({ gateway, random }) => ({ type, gateway, duration: outageLength(random) })),
  ),
  always(1, ({ random }) => ({ type: 'receiver', duration: outageLength(random) })),
];

function cut(
  { gateway, random }: Stretch,
  directions: readonly (readonly Direction[])[],
  duration: number,
): Step {
  const kinds = random.oneOf([['requests', 'messages'], ['requests'], ['messages']] as const);
  return { type: 'cut', gateway, duration, directions: random.oneOf(directions), kinds };
}

/** Steps that matter together, each after a wait in milliseconds. */
interface Combination extends Pick<Choice, 'only'> {
  readonly make: (stretch: Stretch) => readonly (readonly [after: number, step: Step])[];
}

/** Requests of one key at one gateway for `duration` milliseconds. */
function requests(key: number | null, gateway: number, pause: number, duration: number): Step {
  const manner = pause < 200 ? 'deaf' : 'polite';
  const operation = key === null ? 'news' : 'read';
  return {
    type: 'clients',
    manner,
    key,
    workers: 1,
    gateway,
    operation,
    pause,
    backend: 2,
    duration,
  };
}

function operatorStep(
  one: Stretch,
  types: readonly ('ban' | 'lift' | 'reset' | 'revoke')[],
  key: number,
): Step {
  const type = one.random.oneOf(types);
  return type === 'ban'
    ? { type, gateway: 0, key, length: 90 * SECOND }
    : { type, gateway: 0, key };
}

const EDITS = ['create', 'label', 'label', 'rotate', 'token'] as const;

/** Repeated at any gateway until it is answered. */
function editOf(one: Stretch, kind: EditKind, key: number): Step {
  const gateways = [one.gateway, ...Array.from({ length: one.gateways }, (_, i) => i)];
  return { type: 'edit', gateways, kind, key, twice: one.random.isOnce(4) };
}

/** Edits of a few keys from `begin`, each `pause` milliseconds after the one before. */
function edits(one: Stretch, begin: number, count: number, pause: number) {
  const [some, other] = [one.random.integer(0, WIDE), one.random.integer(0, WIDE)];
  return Array.from({ length: count }, (_, i) => {
    const key = one.random.oneOf([some, some, other]);
    return [begin + i * pause, editOf(one, one.random.oneOf(EDITS), key)] as const;
  });
}

/** Edits while something disturbs Redis, a gateway or the network. */
function editsDuring(one: Stretch, disturbance: Step) {
  const count = one.random.integer(4, 16);
  const pause = one.random.oneOf([1, 40, 300, 1_000]);
  const at = 2 * SECOND + one.random.integer(0, count * pause);
  return [[at, disturbance], ...edits(one, 2 * SECOND, count, pause)] as const;
}

/** A change by an operator while another gateway is cut off. */
function changeWhileCut(one: Stretch, types: Parameters<typeof operatorStep>[1]) {
  const key = WIDE;
  const gateway = Math.max(1, one.gateways) - 1;
  const duration = one.random.oneOf([3_000, 12_000]);
  const cut = {
    type: 'cut',
    gateway,
    duration,
    directions: ['to', 'from'],
    kinds: ['requests', 'messages'],
  } as const;
  return [
    [3 * SECOND, requests(key, gateway, one.random.oneOf([400, 1_500]), duration + 30 * SECOND)],
    [4 * SECOND, cut],
    [4 * SECOND + duration / 2, operatorStep(one, types, key)],
  ] as const;
}

/** Of operators whose changes something disturbs. */
const OF_RECORDS: readonly Combination['make'][] = [
  // All gateways change one key at once.
  (one) => {
    const { key } = one;
    const pause = one.random.oneOf([0, 0.2, 1]);
    return Array.from({ length: 8 }, (_, i) => {
      const gateways = [i % one.gateways];
      return [i * pause, { type: 'edit', gateways, kind: 'label', key, twice: false }] as const;
    });
  },
  (one) => {
    const duration = one.random.oneOf([30, 400, 5_000]);
    const lag = one.random.oneOf([2, 50, 1_000]);
    return editsDuring(one, { type: 'redis ends', duration, lag });
  },
  (one) => {
    const duration = one.random.oneOf([120, 5_000, 40_000]);
    return editsDuring(one, cut(one, [['to', 'from'], ['from']], duration));
  },
  (one) => {
    const type = one.random.oneOf(['redis hangs', 'redis is demoted'] as const);
    return editsDuring(one, { type, duration: one.random.oneOf([120, 5_000]) });
  },
  (one) => {
    const type = one.random.oneOf(['kill', 'power', 'stop'] as const);
    return editsDuring(one, {
      type,
      gateway: one.gateway,
      duration: one.random.oneOf([0, 5_000]),
    });
  },
  // The node with the records comes up empty, and gets them back before or after that is believed.
  (one) => {
    const duration = one.random.oneOf([5_000, 33_000, 90_000]);
    return [
      ...editsDuring(one, { type: 'records are lost', duration }),
      ...edits(one, duration, 4, 3_000),
    ];
  },
  // A backup is restored.
  (one) => [
    [2 * SECOND, { type: 'backup' }],
    ...edits(one, 2 * SECOND + one.random.oneOf([1, 500]), one.random.integer(1, 8), 400),
    ...editsDuring(one, { type: 'records are restored', duration: 0 }).map(
      ([after, step]) => [after + 2 * SECOND, step] as const,
    ),
  ],
];

const COMBINATIONS: readonly Combination[] = [
  { only: 'redis', make: (one) => changeWhileCut(one, ['ban', 'lift', 'reset']) },
  { only: 'redis', make: (one) => changeWhileCut(one, ['revoke']) },
  {
    // A client is banned twice, and a request without a key comes in between.
    make: (one) => [
      [0, requests(one.random.integer(2, 5), 0, 60, 12 * SECOND)],
      [3 * MINUTE, requests(null, 0, 1_000, 5 * SECOND)],
      [4 * MINUTE, requests(one.random.integer(2, 5), 0, 60, 12 * SECOND)],
    ],
  },
  {
    make: (one) => {
      const { key } = one;
      return [0, 3, 20].map(
        (minutes) => [minutes * MINUTE, requests(key, 0, 60, 12 * SECOND)] as const,
      );
    },
  },
  {
    // Windows of a minute end and open again, and counters expire in between.
    make: (one) => {
      const [key, gateway] = [one.random.integer(2, 6), one.gateway];
      return [[0, requests(key, gateway, one.random.oneOf([250, 900]), 200 * SECOND)]];
    },
  },
  {
    // A limit is used up, and the clock that counts is set back.
    make: (one) => {
      const machine = one.gateways > 0 ? 'redis' : 0;
      return [
        [0, { type: 'clock', machine, offset: one.random.oneOf([20 * SECOND, HOUR]) }],
        [SECOND, requests(one.key, 0, 250, 8 * SECOND)],
        [10 * SECOND, { type: 'clock', machine, offset: 0 }],
        [11 * SECOND, requests(one.key, 0, 1_000, 30 * SECOND)],
      ];
    },
  },
];

/** The plan of a seed: a few stretches with actions in `days` days. */
export function planOfSeed(seed: number, days: number): Plan {
  const random = new Random(seed);
  const gateways = random.isOnce(3) ? 0 : random.integer(1, 3);
  const isLeft = ({ only }: Pick<Choice, 'only'>) => gateways > 0 || only === undefined;
  const choices = CHOICES.filter(isLeft);
  const combinations = COMBINATIONS.filter(isLeft);
  /** A combination in every second stretch, or two of changes by operators. */
  function combined(one: Stretch, isOfRecords: boolean) {
    if (!isOfRecords) return random.isOnce(2) ? random.oneOf(combinations).make(one) : [];
    const [first, second] = [random.oneOf(OF_RECORDS), random.oneOf(OF_RECORDS)];
    const later = random.oneOf([SECOND, 20 * SECOND]);
    const shifted = second(one).map(([after, step]) => [after + later, step] as const);
    return [...first(one), ...shifted];
  }

  const length = days * DAY;
  const actions: Action[] = [];
  const checks: number[] = [];
  let begin = random.integer(0, length / 2);
  for (let stretch = random.integer(2, 5); stretch > 0 && begin < length - 20 * MINUTE; stretch--) {
    const one = new Stretch(random, gateways);
    const isOfRecords = gateways > 0 && random.isOnce(3);
    const most = isOfRecords ? 3 : 9;
    for (let action = random.integer(most / 3, most); action > 0; action--)
      actions.push({
        at: begin + random.integer(0, STRETCH),
        ...chosen(random, choices).make(one),
      });
    actions.push(
      ...combined(one, isOfRecords).map(([after, step]) => ({ at: begin + after, ...step })),
    );
    const gap = random.oneOf(GAPS) + random.integer(0, MINUTE);
    if (gap > CALM) checks.push(begin + CALM);
    begin += gap;
  }
  actions.sort((one, other) => one.at - other.at);
  return {
    seed,
    gateways,
    keys: KEYS,
    length,
    actions,
    checks: checks.filter((at) => at < length),
  };
}

function chosen(random: Random, choices: readonly Choice[]): Choice {
  const all = choices.reduce((sum, { weight }) => sum + weight, 0);
  let remaining = random.integer(1, all);
  for (const choice of choices) {
    remaining -= choice.weight;
    if (remaining <= 0) return choice;
  }
  throw new Error('the weights of steps do not sum up');
}
