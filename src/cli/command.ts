import { randomUUID } from 'node:crypto';
import {
  createClient,
  type InputOf,
  isChange,
  type OperationId,
  type ResponseOf,
  ROUTES,
  type Send,
} from '@storegate/admin-api';
import {
  type Argument,
  type Command,
  InvalidArgumentError,
  Option,
} from 'commander';
import { type DurationField, readDuration } from '../config/durations.ts';
import { readMoment } from '../config/moments.ts';
import { parseDuration } from '../config/units.ts';
import { isSpan, readShort, readWindows } from '../limits/notation.ts';
import { type Api, CommandError, LostChange } from './connect/api.ts';
import type { ConnectOptions } from './connect/connect.ts';
import { refuseOptions } from './option-errors.ts';
import { FORMATS, type OutputOptions, print, type View } from './output.ts';
import type { Terminal } from './terminal.ts';

export interface Options extends ConnectOptions, OutputOptions {
  readonly reason?: string;
  readonly idempotencyKey?: string;
}

export const GLOBAL_OPTIONS: readonly Option[] = [
  option(
    '--url <url>',
    'admin URL of a gateway (STOREGATE_ADMIN_URL); default: the gateway or state of this machine',
  ),
  option(
    '--token <token>',
    'admin token; prefer STOREGATE_ADMIN_TOKEN: arguments are visible in ps',
  ),
  option(
    '--profile <file>',
    'YAML file with url, token, ca, cert and key (STOREGATE_PROFILE)',
  ),
  option('--json', 'print JSON, as -o json'),
  option('-o, --output <format>', 'output format')
    .choices(FORMATS)
    .default('table'),
  option('-q, --quiet', 'print no notes and confirmations'),
  option('--absolute', 'print full times in tables in place of "3m ago"'),
];

const REASON = option('--reason <text>', 'reason for the audit log');
const IDEMPOTENCY_KEY = option(
  '--idempotency-key <text>',
  'makes a repeated call run once (16 characters or more)',
);

interface Details {
  readonly options?: readonly Option[];
  /** For the command alone: no call has them. */
  readonly localOptions?: readonly Option[];
  /** It has an entry in the audit log. */
  readonly changes?: boolean;
  readonly details?: string;
  /** Default: the command without arguments. */
  readonly examples?: readonly string[];
  readonly isDefault?: true;
  readonly commands?: readonly CommandSpec[];
  /** In place of an argument in `usage`. */
  readonly input?: Argument;
  /** `options`: with the global options. */
  run?(
    terminal: Terminal,
    options: object,
    args: readonly string[],
    command: Command,
  ): Promise<void>;
}

/** `usage`: name and arguments. */
export type CommandSpec = Details & Readonly<Record<'usage' | 'about', string>>;

/** `options`: those of calls. `argument`: empty without one. */
type Ask<O, T> = (api: Api, options: O, argument: string) => Promise<T>;

interface Calling<O extends object, T> extends Omit<Details, 'run'> {
  readonly ask: Ask<O, T>;
  readonly view: View<T>;
  /** A sentence after the result, for stderr. */
  readonly note?: (api: Api) => Promise<string | null>;
  /** Why the command fails although its result was printed. */
  readonly failure?: (result: T, all: Options) => CommandError | null;
}

export function command(
  usage: string,
  about: string,
  details: Details,
): CommandSpec {
  return { usage, about, ...details };
}

/** Loads the modules of a command when it runs. */
export function lazily<O>(
  load: () => Promise<(terminal: Terminal, options: O) => Promise<void>>,
): NonNullable<Details['run']> {
  return async (terminal, options) =>
    await (await load())(terminal, options as O);
}

/** A command that makes a call of the admin API and prints the result. */
export function call<O extends object, T>(
  usage: string,
  about: string,
  { ask, view, note = noNote, failure = () => null, ...details }: Calling<O, T>,
): CommandSpec {
  return command(usage, about, {
    ...details,
    run: (terminal, options: Options, [argument = ''], made) =>
      withApi(terminal, options, async (api) => {
        const names = details.options?.map((one) => one.attributeName()) ?? [];
        const own = names.map((name) => [name, made.getOptionValue(name)]);
        const result = await ask(api, Object.fromEntries(own) as O, argument);
        print(terminal, options, result, view);
        const sentence = options.quiet ? null : await note(api);
        if (sentence !== null) terminal.err(`${sentence}\n`);
        const error = failure(result, options);
        if (error !== null) throw error;
      }),
  });
}

async function noNote(): Promise<null> {
  return null;
}

/** Query (GET) or body of a call; default: the options of the command. */
type Fields = (options: never, argument: string) => object;

function asking<Id extends OperationId>(
  id: Id,
  fieldsOf: Fields = (own) => own,
): Ask<object, ResponseOf<Id>> {
  const [method, path] = ROUTES[id];
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  return (api, options, argument) => {
    const fields = fieldsOf(options as never, argument);
    const params = name === undefined ? {} : { [name]: argument };
    const body = Object.keys(fields).length > 0 ? fields : undefined;
    const input =
      method === 'GET'
        ? { params: { ...fields, ...params } }
        : { params, body };
    return api.call(id, ...([input] as unknown as InputOf<Id>));
  };
}

/**
 * Calls an operation, with the argument of the command as the parameter in its path. Members for
 * `call`.
 */
export const operation = <Id extends OperationId>(id: Id, fields?: Fields) => ({
  ask: asking(id, fields),
  changes: isChange(id),
});

/** As `operation`, for one member of the response. */
export function memberOf<
  Id extends OperationId,
  Name extends keyof NonNullable<ResponseOf<Id>>,
>(id: Id, name: Name, fields?: Fields) {
  const whole = asking(id, fields);
  return {
    ask: async (...given: Parameters<typeof whole>) =>
      (await whole(...given))![name],
    changes: isChange(id),
  };
}

/** As `memberOf`, for the items of all pages. */
export const everyPage = <Item>(
  id: 'listKeys' | 'listAccounts' | 'listKeysOfAccount',
  name: string,
) => ({
  async ask(api: Api, options: object, argument: string) {
    const items: Item[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const query = { ...options, limit: 1000, after };
      const page = await asking(id)(api, query, argument);
      items.push(...(Object(page)[name] as Item[]));
      after = page.next;
    }
    return items;
  },
});

export function option<T>(
  flags: string,
  about: string,
  parse?: (text: string, before: T) => T,
  fallback?: T,
): Option {
  const made = new Option(flags, about);
  if (parse) made.argParser(parse);
  return fallback === undefined ? made : made.default(fallback);
}

export function describe({
  description,
  argChoices,
  defaultValue,
  mandatory,
}: Option): string {
  const notes = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices ? [argChoices.join(', ')] : []),
    ...(defaultValue === undefined || typeof defaultValue === 'boolean'
      ? []
      : [`default: ${defaultValue}`]),
  ];
  return notes.length === 0
    ? description
    : `${description} (${notes.join('; ')})`;
}

/** What the reference shows of each command beside its options. */
export const DETAILS = new WeakMap<
  Command,
  { readonly details: string | undefined; readonly example: string }
>();

export function addCommand(
  terminal: Terminal,
  parent: Command,
  spec: CommandSpec,
): void {
  const {
    usage,
    input,
    about,
    options = [],
    localOptions = [],
    changes,
    details,
    isDefault = false,
  } = spec;
  const command = parent.command(usage, { isDefault }).description(about);
  if (input) command.addArgument(input);
  for (const one of [...options, ...localOptions]) command.addOption(one);
  if (changes) command.addOption(IDEMPOTENCY_KEY);
  const hasReason = options.some((one) => one.attributeName() === 'reason');
  if (changes && !hasReason) command.addOption(REASON);
  const {
    examples = [
      parent.parent ? `${parent.name()} ${command.name()}` : command.name(),
    ],
  } = spec;
  const lines = examples
    .map((example) => `\n  $ storegate ${example}`)
    .join('');
  if (details !== undefined) command.addHelpText('after', `\n${details}`);
  DETAILS.set(command, { details, example: examples[0]! });
  command
    .addHelpText(
      'after',
      `\n${examples.length > 1 ? 'Examples' : 'Example'}:${lines}`,
    )
    .addHelpText(
      'after',
      '\nGlobal options, e.g. --url and --json: storegate --help',
    );
  if (spec.run) {
    command.action(async () => {
      try {
        await spec.run!(
          terminal,
          command.optsWithGlobals(),
          command.args,
          command,
        );
      } catch (error) {
        refuseOptions(command, error);
        throw error;
      }
    });
  }
  for (const inner of spec.commands ?? []) addCommand(terminal, command, inner);
}

/** Each call gets the reason of the options, and each change an Idempotency-Key. */
export async function withApi(
  terminal: Terminal,
  { reason, idempotencyKey, ...options }: Options,
  work: (api: Api) => Promise<void>,
): Promise<void> {
  const { connect } = await import('./connect/connect.ts');
  const connection = await connect(terminal, options);
  const send: Send = async (method, path, sent, isChange) => {
    const key = sent.idempotencyKey ?? idempotencyKey ?? randomUUID();
    const once = isChange && { idempotencyKey: key };
    try {
      return await connection.call(method, path, { ...sent, ...once, reason });
    } catch (error) {
      const isLost = error instanceof CommandError && error.failure === 'lost';
      throw isChange && isLost ? new LostChange(error, key) : error;
    }
  };
  const call = createClient(async (...sent) => {
    const response = await send(...sent);
    const { asOf } = Object(response) as { asOf?: string };
    if (asOf !== undefined)
      terminal.err(
        `Redis is down: this is the last state known to the gateway, of ${asOf}.\n`,
      );
    return response;
  });
  try {
    await work({ ...connection, call });
  } finally {
    await connection.close();
  }
}

/** Reads the value of an option. `advice`: the error for an invalid value. */
export function reader<T = string>(
  isValid: (text: string) => boolean,
  advice: string,
  read: (text: string) => T = (text) => text as T,
): (text: string) => T {
  return (text) => {
    if (isValid(text)) return read(text);
    throw new InvalidArgumentError(advice);
  };
}

/** For an option whose value is that field of a call. */
export function durationOf(field: DurationField): (text: string) => string {
  return (text) => {
    const length = readDuration(field, text);
    if (typeof length === 'string')
      throw new InvalidArgumentError(`It ${length}.`);
    return text;
  };
}

/** A time of RFC 3339. */
export function time(text: string): string {
  return momentOf(text, false);
}

/** A date, which begins in UTC, or a time of RFC 3339. */
export function dateOrTime(text: string): string {
  return momentOf(text, true);
}

function momentOf(text: string, dates: boolean): string {
  const at = readMoment(text, { dates });
  if (typeof at === 'number') return text;
  throw new InvalidArgumentError(`It ${at}.`);
}

export function futureTime(text: string): string {
  const at = readMoment(text);
  if (typeof at === 'number' && at > Date.now()) return text;
  const reason = typeof at === 'number' ? 'must be in the future' : at;
  throw new InvalidArgumentError(`It ${reason}; or use --expires-in 90d.`);
}

/** A duration before now, or a time of RFC 3339. */
export function pastTime(text: string): string {
  const span = parseDuration(text);
  return span === null
    ? time(text)
    : new Date(Math.max(0, Date.now() - span)).toISOString();
}

/** As `limits`; what windows do not name is known where the plan is. */
export function limitsOfPlan(text: string): string {
  const parts = readShort(text);
  const entries = parts.filter((part) => typeof part !== 'string');
  const places = new Set(entries.map(({ per, api }) => `${per}@${api}`));
  if (places.size < parts.length || !entries.every(({ per }) => isSpan(per)))
    limits(text);
  return text;
}

/** Limits such as `60/minute,10/10s:sliding`. */
export function limits(text: string): string {
  const windows = readWindows(text);
  if (typeof windows === 'string')
    throw new InvalidArgumentError(`It ${windows}.`);
  return text;
}

export const wholeNumber = reader(
  (text) => /^[1-9]\d{0,9}$/.test(text),
  'Use a whole number from 1.',
  Number,
);

/** For logs, newest first. */
export const LOG_OPTIONS: readonly Option[] = [
  option('--below <number>', 'only entries before this number', wholeNumber),
  option('--limit <number>', 'maximum results, up to 1000', wholeNumber, 50),
];

export function pair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

export function repeated(
  text: string,
  before: readonly string[] = [],
): string[] {
  return [...before, text];
}
