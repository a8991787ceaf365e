import { readdirSync } from 'node:fs';
import { readScript, SCRIPTS } from '../../../src/state/redis/scripts.ts';
import type { Process } from '../world/machine.ts';
import type { ServerSide, Service } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { READS, WRITES } from './commands.ts';
import { RedisData } from './database.ts';
import { translated } from './lua.ts';
import { commandReader, encode, encodePush, RedisFailure, type Reply } from './protocol.ts';

/** By digest, once they are called. */
const scripts = new Map<string, ReturnType<typeof translated>>();
const FILES = new Map(
  readdirSync(SCRIPTS)
    .filter((name) => name.endsWith('.lua'))
    .map((name) => [readScript(name).sha, name]),
);

const INFO = 'redis_version:7.4.0\r\nmaxmemory_policy:noeviction\r\nloading:0\r\n';

/** The twin of Redis: one process with its own clock, which runs the scripts of the gateway. */
export class RedisServer implements Service {
  readonly data: RedisData;
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
      if (!(error instanceof RedisFailure)) {
        this.#world.fail(error);
        connection.reset();
      }
      return encode(new RedisFailure((error as Error).message));
    }
  }

  #runOrQueue(words: string[], connection: ServerSide): Reply {
    const [command, ...args] = words;
    const queue = this.#queues.get(connection);
    if (command === 'multi') {
      this.#queues.set(connection, []);
      return 'OK';
    }
    if (queue === undefined) return this.run(command!, args);
    if (command !== 'exec') {
      queue.push(words);
      return 'QUEUED';
    }
    this.#queues.delete(connection);
    return queue.map(([name, ...rest]) => this.run(name!, rest));
  }

  /** Throws a `RedisFailure` where Redis answers an error. */
  run(command: string, args: readonly string[]): Reply {
    const read = READS[command];
    if (read) return read(this.data, args);
    const write = WRITES[command];
    if (write && this.isReplica)
      throw new RedisFailure("READONLY You can't write against a read only replica.");
    if (write) return write(this.data, args);
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

  #evaluate([sha, count, ...rest]: readonly string[]): Reply {
    const file = FILES.get(sha!);
    if (file === undefined) throw new Error(`the gateway has no script ${sha}`);
    const script = scripts.get(sha!) ?? translated(file);
    scripts.set(sha!, script);
    return script(rest.slice(0, Number(count)), rest.slice(Number(count)), ([name, ...args]) =>
      this.run(name!.toLowerCase(), args),
    );
  }
}
