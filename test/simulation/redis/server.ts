import { readScript } from '../../../src/state/redis/scripts.ts';
import type { Process } from '../world/machine.ts';
import type { ServerSide, Service } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { READS, WRITES } from './commands.ts';
import { COUNTER_SCRIPTS } from './counter-scripts.ts';
import { RedisData } from './database.ts';
import { KnownLimits } from './limits.ts';
import { commandReader, encode, encodePush, RedisFailure } from './protocol.ts';
import { RECORD_SCRIPTS } from './record-scripts.ts';
import type { Reply, Script } from './scripts.ts';

const SCRIPTS: ReadonlyMap<string, Script> = new Map(
  Object.entries({ ...COUNTER_SCRIPTS, ...RECORD_SCRIPTS }).map(([file, script]) => [
    readScript(file).sha,
    script,
  ]),
);

const INFO = 'redis_version:7.4.0\r\nmaxmemory_policy:noeviction\r\nloading:0\r\n';
const READ_ONLY = new RedisFailure("READONLY You can't write against a read only replica.");

/** The twin of Redis: one process with its own clock, which executes the rules of src/limits. */
export class RedisServer implements Service {
  readonly data: RedisData;
  readonly limits = new KnownLimits();
  readonly #world: World;
  readonly #connections = new Map<ServerSide, Set<string>>();
  /** Commands after MULTI. */
  readonly #queues = new Map<ServerSide, string[][]>();
  process: Process;
  isListening = true;
  isReplica = false;

  constructor(world: World, process: Process) {
    this.#world = world;
    this.process = process;
    this.data = new RedisData(
      () => this.now,
      () => world.now,
    );
  }

  /** Whole Unix milliseconds by its own clock. */
  get now(): number {
    return Math.floor(this.process.machine.wallAt(this.#world.now));
  }

  accept(connection: ServerSide): void {
    const channels = new Set<string>();
    this.#connections.set(connection, channels);
    const read = commandReader((words) =>
      connection.write(Buffer.from(this.#answer(words, connection, channels), 'latin1')),
    );
    connection.onData = (data) => this.#world.deliver(this.process, () => read(data));
    connection.onClose = () => void this.#connections.delete(connection);
  }

  /** All connections are reset, as if the process ended. */
  disconnectAll(): void {
    for (const connection of this.#connections.keys()) connection.reset();
    this.#connections.clear();
  }

  publish(channel: string, text: string): number {
    let received = 0;
    for (const [connection, channels] of this.#connections) {
      if (!channels.has(channel)) continue;
      connection.write(Buffer.from(encodePush(['message', channel, text]), 'latin1'));
      received++;
    }
    return received;
  }

  #answer([name, ...args]: string[], connection: ServerSide, channels: Set<string>): string {
    const command = name!.toLowerCase();
    if (command === 'subscribe') {
      connection.kind = 'messages';
      return args
        .map((channel) => {
          channels.add(channel);
          return encodePush(['subscribe', channel, channels.size]);
        })
        .join('');
    }
    try {
      return encode(this.#runOrQueue([command, ...args], connection));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('WRONGTYPE'))) {
        this.#world.fail(error);
        connection.reset();
      }
      return encode(new RedisFailure((error as Error).message));
    }
  }

  #runOrQueue(words: string[], connection: ServerSide): Reply | RedisFailure {
    const [command, ...args] = words;
    const queue = this.#queues.get(connection);
    if (command === 'multi') {
      this.#queues.set(connection, []);
      return 'OK';
    }
    if (queue === undefined) return this.#run(command!, args);
    if (command !== 'exec') {
      queue.push(words);
      return 'QUEUED';
    }
    this.#queues.delete(connection);
    return queue.map(([name, ...rest]) => this.#run(name!, rest) as Reply);
  }

  #run(command: string, args: readonly string[]): Reply | RedisFailure {
    const read = READS[command];
    if (read) return read(this.data, args);
    const write = WRITES[command];
    if (write) return this.isReplica ? READ_ONLY : write(this.data, args);
    switch (command) {
      case 'evalsha':
        return this.#evaluate(args);
      case 'publish':
        return this.publish(args[0]!, args[1]!);
      case 'time':
        return [String(Math.floor(this.now / 1_000)), String((this.now % 1_000) * 1_000)];
      case 'ping':
        return 'PONG';
      case 'info':
        return `${INFO}role:${this.isReplica ? 'slave' : 'master'}\r\n`;
      case 'role':
        return this.isReplica ? ['slave', 'master', 6379, 'connected', 0] : ['master', 0, []];
      case 'hello':
        return ['server', 'redis', 'proto', 3];
      case 'client':
      case 'select':
        return 'OK';
      default:
        throw new Error(`the twin of Redis has no command ${command}`);
    }
  }

  #evaluate([sha, count, ...rest]: readonly string[]): Reply | RedisFailure {
    const script = SCRIPTS.get(sha!);
    if (!script) throw new Error(`the twin of Redis has no script ${sha}`);
    if (this.isReplica) return READ_ONLY;
    return script({
      keys: rest.slice(0, Number(count)),
      args: rest.slice(Number(count)),
      now: this.now,
      data: this.data,
      limits: this.limits,
      publish: (channel, text) => this.publish(channel, text),
    });
  }
}
