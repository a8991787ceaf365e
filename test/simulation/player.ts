import type { Task } from '../../src/admin/call.ts';
import { RECORDS_SLOT } from '../../src/state/redis/key-names.ts';
import type { Action, Step, StepType } from './actions.ts';
import { deaf, type Key, polite } from './clients.ts';
import { Editor, isExpected } from './editor.ts';
import { type Disturbance, type Disturbances, type Fact, UNTIL_READ } from './facts.ts';
import type { Answered, Gateway } from './gateway/gateway.ts';
import { plansOfRuns } from './plan.ts';
import type { Backup } from './redis/database.ts';
import type { Simulation } from './simulation.ts';
import type { ConnectionKind, Direction } from './world/network.ts';

type StepOf<T extends Step['type']> = Extract<Step, { readonly type: T }>;
type OperatorStep = StepOf<'ban' | 'lift' | 'reset' | 'revoke' | 'grant'>;

const ONWARDS = Number.POSITIVE_INFINITY;
/** Milliseconds until a gateway that did not start is started again. */
const RETRY = 1_000;
/** Milliseconds, about `LOST_AFTER` in records/redis/epoch.ts: at least, and at most. */
const BELIEVED = 29_900;
const UNTIL_BELIEVED = 35_000;
const UNKNOWN: Key = { id: '', secret: 'guess', account: '', plan: '' };

/** Does the actions of a plan, and reports what comes of them. */
export class Player {
  readonly #simulation: Simulation;
  readonly #disturbances: Disturbances;
  readonly #report: (fact: Fact) => void;
  readonly #cuts = new Map<string, number>();
  readonly #steps: { readonly [T in StepType]: (step: StepOf<T>) => unknown } = {
    clients: (step) => this.#send(step),
    guesses: (step) => this.#guess(step),
    ban: (step) => this.#operate(step),
    lift: (step) => this.#operate(step),
    reset: (step) => this.#operate(step),
    revoke: (step) => this.#operate(step),
    grant: (step) => this.#operate(step),
    edit: (step) => this.#editor.edit(step),
    backup: () => this.#backUp(),
    'records are lost': (step) => this.#loseRecords(step),
    'records are restored': (step) => this.#loseRecords(step),
    plans: (step) => this.#usePlans(step),
    clock: (step) => this.#changeClock(step),
    ahead: (step) => this.#changeClock(step),
    drift: (step) => this.#changeClock(step),
    cut: (step) => this.#cut(step),
    slow: (step) => this.#slow(step),
    'redis ends': (step) => this.#disturbRedis(step),
    'redis hangs': (step) => this.#disturbRedis(step),
    'redis is demoted': (step) => this.#disturbRedis(step),
    kill: (step) => this.#startAgain(step),
    power: (step) => this.#startAgain(step),
    restart: (step) => this.#startAgain(step),
    stop: (step) => this.#pause(step),
    suspend: (step) => this.#pause(step),
    receiver: (step) => this.#closeReceiver(step),
  };
  readonly #editor: Editor;
  #clients = 0;
  #isLost = false;
  #backup: { readonly at: number; readonly records: Backup } | null = null;

  constructor(simulation: Simulation, disturbances: Disturbances, report: (fact: Fact) => void) {
    this.#simulation = simulation;
    this.#disturbances = disturbances;
    this.#report = report;
    this.#editor = new Editor(simulation, report);
  }

  do({ at: _, ...step }: Action): void {
    const { type, ...fields } = step;
    this.#simulation.world.note('action', `${type} ${JSON.stringify(fields)}`);
    const work = this.#steps[type] as (step: Step) => unknown;
    void work(step as Step);
  }

  #gateway(place: number): Gateway {
    return this.#simulation.gateways[place]!;
  }

  #later(duration: number, work: () => void): void {
    this.#simulation.world.schedule(duration, work);
  }

  #disturb(kind: Disturbance['kind'], gateway: string | null, from: number): Disturbance {
    return this.#disturbances.add({ kind, gateway, from, until: ONWARDS });
  }

  #send({
    manner,
    key: place,
    workers,
    gateway,
    operation,
    pause,
    backend,
    duration,
  }: StepOf<'clients'>): void {
    const { world, gateways, keys } = this.#simulation;
    const client = ++this.#clients;
    const key = place === null ? null : keys[place]!;
    const choose = () => (gateway === null ? world.random.oneOf(gateways) : this.#gateway(gateway));
    const answered = (response: Answered) =>
      this.#report({
        type: 'answer',
        answer: { ...response, client, workers, manner, key, operation },
      });
    if (key) this.#report({ type: 'client', manner, key });
    const end = world.now + duration;
    const address = `198.51.100.${client % 250}`;
    const behaviour = { key, operation, address, pause, backend, gateway: choose, answered };
    const work = manner === 'polite' ? polite : deaf;
    // Workers do not begin at one moment.
    for (let i = 0; i < workers; i++)
      this.#later(
        world.random.integer(0, pause),
        () => void work(this.#simulation, behaviour, end),
      );
  }

  #guess({ gateway, count }: StepOf<'guesses'>): void {
    const { world } = this.#simulation;
    const client = ++this.#clients;
    const answered = (response: Answered) =>
      this.#report({
        type: 'answer',
        answer: { ...response, client, workers: 1, manner: 'guess', key: null, operation: 'read' },
      });
    const behaviour = { key: UNKNOWN, pause: 20, gateway: () => this.#gateway(gateway), answered };
    void deaf(this.#simulation, behaviour, world.now + 20 * count);
  }

  async #operate(step: OperatorStep): Promise<void> {
    const { world, keys } = this.#simulation;
    const gateway = this.#gateway(step.gateway);
    const key = keys[step.key]!;
    const sentAt = world.now;
    // A process that is killed confirms nothing, and may have made the change.
    this.#report({ type: 'attempt', step, id: key.id });
    let error: string | null = null;
    try {
      await operation(gateway, step, key);
    } catch (failure) {
      if (!isExpected(failure)) world.fail(failure);
      error = (failure as Error).message;
    }
    world.note(gateway.name, `${step.type} of ${key.id}: ${error ?? 'confirmed'}`);
    this.#report({ type: 'change', change: { at: world.now, sentAt, step, key, error } });
  }

  #usePlans({ factor }: StepOf<'plans'>): void {
    this.#simulation.usePlans(plansOfRuns(factor));
    this.#report({ type: 'plans', at: this.#simulation.world.now });
  }

  #closeReceiver({ duration }: StepOf<'receiver'>): void {
    const { receiver } = this.#simulation;
    receiver.isDown = true;
    this.#later(duration, () => {
      receiver.isDown = false;
    });
  }

  #changeClock(step: StepOf<'clock' | 'ahead' | 'drift'>): void {
    const { world, redis, isEmbedded } = this.#simulation;
    const machine =
      step.machine === 'redis' ? redis.process.machine : this.#gateway(step.machine).machine;
    const before = machine.aheadAt(world.now);
    if (step.type === 'drift') machine.setDrift(world.now, step.drift);
    else machine.setClock(world.now, step.type === 'clock' ? step.offset : before + step.jump);
    const counts = isEmbedded || step.machine === 'redis';
    const jump = machine.aheadAt(world.now) - before;
    if (jump !== 0) {
      const gateway = counts ? null : machine.name;
      this.#disturbances.add({ kind: 'clock', gateway, from: world.now, until: world.now, jump });
    }
  }

  #cut({ gateway: place, directions, kinds, duration }: StepOf<'cut'>): void {
    const { world } = this.#simulation;
    const { name } = this.#gateway(place);
    const disturbed = this.#disturb(
      kinds.includes('requests') ? 'outage' : 'messages',
      name,
      world.now,
    );
    const change = (by: number) => {
      for (const direction of directions)
        for (const kind of kinds) this.#countCut(name, direction, kind, by);
    };
    change(1);
    this.#later(duration, () => {
      change(-1);
      disturbed.until = world.now;
    });
  }

  /** Cuts may overlap. */
  #countCut(machine: string, direction: Direction, kind: ConnectionKind, by: number): void {
    const name = `${machine} ${direction} ${kind}`;
    const cuts = (this.#cuts.get(name) ?? 0) + by;
    this.#cuts.set(name, cuts);
    this.#simulation.network.change(machine, { isCut: cuts > 0 }, [direction], [kind]);
  }

  #slow({ gateway: place, delay, duration }: StepOf<'slow'>): void {
    const { world, network } = this.#simulation;
    const { name } = this.#gateway(place);
    const disturbed = this.#disturb('outage', name, world.now);
    network.change(name, { delay });
    this.#later(duration, () => {
      network.change(name, { delay: 0.2 });
      disturbed.until = world.now;
    });
  }

  #disturbRedis(step: StepOf<'redis ends' | 'redis hangs' | 'redis is demoted'>): void {
    const { world, redis } = this.#simulation;
    const disturbed = this.#disturb('outage', null, world.now);
    const lag = step.type === 'redis ends' ? step.lag : 0;
    if (step.type === 'redis ends') {
      redis.isListening = false;
      redis.disconnectAll();
      redis.data.loseWrites(lag);
    } else if (step.type === 'redis hangs') redis.process.isStopped = true;
    else redis.isReplica = true;
    if (lag > 0)
      this.#disturbances.add({
        kind: 'loss',
        gateway: null,
        from: world.now - lag,
        until: world.now,
      });
    this.#later(step.duration, () => {
      redis.isListening = true;
      redis.isReplica = false;
      if (redis.process.isStopped) world.resume(redis.process);
      disturbed.until = world.now;
    });
  }

  #backUp(): void {
    const { world, redis } = this.#simulation;
    if (this.#isLost) return;
    this.#backup = { at: world.now, records: redis.data.backUp(RECORDS_SLOT) };
  }

  /**
   * The node that has the records loses them, or those since the last backup. Lost ones come back
   * after `duration`.
   */
  #loseRecords({ type, duration }: StepOf<'records are lost' | 'records are restored'>): void {
    const { world, redis } = this.#simulation;
    const isEmptied = type === 'records are lost';
    if (isEmptied) this.#backUp();
    if (this.#backup === null || this.#isLost) return;
    const { at, records } = this.#backup;
    redis.data.restore(RECORDS_SLOT, isEmptied ? new Map() : records);
    this.#lack(isEmptied ? world.now - 1 : at);
    if (!isEmptied) return;
    this.#isLost = true;
    if (duration > BELIEVED)
      this.#disturbances.add({
        kind: 'unknown',
        gateway: null,
        from: world.now + BELIEVED,
        until: world.now + duration + UNTIL_READ,
      });
    this.#later(duration, () => {
      this.#isLost = false;
      redis.data.restore(RECORDS_SLOT, records);
      this.#lack(at - 1);
    });
  }

  /** Gateways wait before they believe that records are gone. */
  #lack(since: number): void {
    const { world } = this.#simulation;
    this.#disturbances.add({ kind: 'loss', gateway: null, from: since, until: world.now });
    this.#disturbances.add({
      kind: 'outage',
      gateway: null,
      from: world.now,
      until: world.now + UNTIL_BELIEVED,
    });
  }

  async #startAgain({
    type,
    gateway: place,
    duration,
  }: StepOf<'kill' | 'power' | 'restart'>): Promise<void> {
    const { world, disk } = this.#simulation;
    const gateway = this.#gateway(place);
    if (!gateway.isRunning) return;
    const disturbed = this.#disturb('pause', gateway.name, world.now);
    if (type === 'restart') await gateway.end();
    else {
      gateway.kill();
      this.#disturbances.add({
        kind: 'loss',
        gateway: gateway.name,
        from: world.now,
        until: world.now,
      });
    }
    if (type === 'power') disk.losePower(gateway.machine.folder);
    await world.sleep(duration);
    await this.#start(gateway);
    disturbed.until = world.now;
  }

  /** A gateway without a key cache does not start while Redis is down. */
  async #start(gateway: Gateway): Promise<void> {
    for (;;) {
      try {
        return await gateway.start();
      } catch (error) {
        this.#simulation.world.note(gateway.name, `does not start: ${(error as Error).message}`);
        gateway.kill();
        await this.#simulation.world.sleep(RETRY);
      }
    }
  }

  #pause({ type, gateway: place, duration }: StepOf<'stop' | 'suspend'>): void {
    const { world } = this.#simulation;
    const gateway = this.#gateway(place);
    if (!gateway.isRunning || gateway.process!.isStopped) return;
    const disturbed = this.#disturb('pause', gateway.name, world.now);
    gateway.stop();
    this.#later(duration, () => {
      if (type === 'suspend') gateway.machine.suspended += duration;
      gateway.resume();
      disturbed.until = world.now;
    });
  }
}

function operation(gateway: Gateway, step: OperatorStep, { id }: Key): Promise<unknown> {
  const ofKey = { path: { id } } satisfies Partial<Task>;
  const ofSubject = { path: { subject: id } } satisfies Partial<Task>;
  switch (step.type) {
    case 'ban':
      return gateway.operate('addBan', {
        ...ofSubject,
        body: { duration: `${step.length}ms`, reason: 'simulated' },
      });
    case 'lift':
      return gateway.operate('liftBan', ofSubject);
    case 'reset':
      return gateway.operate('resetUsage', ofSubject);
    case 'grant':
      return gateway.operate('grantUsage', { ...ofSubject, body: { units: step.units } });
    case 'revoke':
      return gateway.operate('revokeKey', ofKey);
  }
}
