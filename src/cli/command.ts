import { type Command, InvalidArgumentError } from 'commander';
import { holdsSecret } from '../common/secret-mask.ts';
import { parseDuration } from '../config/units.ts';
import { GIVE_THE_ID } from '../keys/secret.ts';
import { type Api, CallError, type Sent } from './connect/api.ts';
import type { ConnectOptions } from './connect/connect.ts';
import type { Terminal } from './terminal.ts';

/** The options of every operator command. */
export interface Common extends ConnectOptions {
  readonly json?: true;
  /** Why, of commands that change something. */
  readonly reason?: string;
}

/** Adds the common options (the gateway to use, JSON for programs) and examples of use to the help. */
export function operatorCommand(command: Command, ...examples: readonly string[]): Command {
  return connectingCommand(command.option('--json', 'print JSON'), ...examples);
}

/** As `operatorCommand`, for a command that changes something: with the option to say why. */
export function changingCommand(command: Command, ...examples: readonly string[]): Command {
  return operatorCommand(command.option('--reason <text>', 'why, for the audit log'), ...examples);
}

/** Adds the options that name a gateway, and examples of use to the help. */
export function connectingCommand(command: Command, ...examples: readonly string[]): Command {
  command
    .option('--url <url>', 'admin listener of the gateway (STOREGATE_ADMIN_URL); without it the local state')
    .option('--token <token>', 'admin token; better in STOREGATE_ADMIN_TOKEN, which others cannot list')
    .option('--profile <file>', 'file with url and token (STOREGATE_PROFILE)');
  const lines = examples.map((example) => `  $ storegate ${example}`).join('\n');
  return examples.length === 0 ? command : command.addHelpText('after', `\nExamples:\n${lines}`);
}

export function idempotencyOption(command: Command): Command {
  return command.option(
    '--idempotency-key <text>',
    'Idempotency-Key, 16 characters or more: repeated with it, the call is done once',
  );
}

/** Calls the API that the options name, prints the answer through `show`, and closes the API. */
export async function perform<T>(
  terminal: Terminal,
  options: Common,
  ask: (api: Api) => Promise<T>,
  show: (answer: T, colour: boolean) => string,
): Promise<void> {
  await withApi(terminal, options, async (api) => {
    const answer = await ask(api);
    const colour = terminal.isTerminal && !terminal.env.NO_COLOR;
    terminal.out(options.json ? `${JSON.stringify(answer)}\n` : show(answer, colour));
  });
}

/** Opens the API that the options name while `work` runs; what it changes has the reason that they give. */
export async function withApi(
  terminal: Terminal,
  { reason, ...options }: ConnectOptions & Pick<Common, 'reason'>,
  work: (api: Api) => Promise<void>,
): Promise<void> {
  const { connect: reach } = await import('./connect/connect.ts');
  const api = await reach(terminal, options);
  try {
    await work({
      ...api,
      async call<T>(method: string, path: string, sent?: Sent) {
        const answer = await api.call<T>(method, path, { ...sent, reason });
        warnOfAge(terminal, answer);
        return answer;
      },
    });
  } finally {
    await api.close();
  }
}

function warnOfAge(terminal: Terminal, answer: unknown): void {
  const { asOf } = Object(answer) as { asOf?: string };
  if (asOf !== undefined)
    terminal.err(`As of ${asOf}: Redis does not answer, so this is what the gateway knew then.\n`);
}

/** All pages of a list. */
export async function everyPage<T>(
  api: Api,
  path: string,
  list: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await api.call('GET', path, { query: { ...query, limit: 1000, after } })) as Record<string, unknown>;
    items.push(...(page[list] as T[]));
    if (page.next === null) return items;
    after = page.next as string;
  }
}

/** A part of a path. Throws CallError for what looks like a key: its secret is not sent where others may log it. */
export function paragraph(text: string): string {
  if (holdsSecret(text)) throw new CallError(GIVE_THE_ID, { failure: 'usage' });
  return encodeURIComponent(text);
}

/** Checks a duration here, so that a typo fails before any call. */
export function duration(text: string): string {
  if (parseDuration(text) === null)
    throw new InvalidArgumentError('A time is a number with a unit, such as 12h or 90d.');
  return text;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Checks a time in the form of RFC 3339, as the API takes it. */
export function moment(text: string): string {
  if (MOMENT.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It is a date, a time and a zone, such as 2030-01-31T00:00:00Z.');
}

/** Checks a time to come in the form of RFC 3339, as the API takes it. */
export function future(text: string): string {
  const time = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (time > Date.now()) return text;
  const reason = Number.isNaN(time)
    ? 'It is a date, a time and a zone, such as'
    : 'It is in the past; say a time such as';
  throw new InvalidArgumentError(`${reason} 2030-01-31T00:00:00Z. --expires-in takes a span, such as 90d.`);
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.');
  return Number(text);
}

export function environmentWord(text: string): string {
  if (!/^[a-z]{1,12}$/.test(text)) throw new InvalidArgumentError('It is 1 to 12 small letters.');
  return text;
}

/** Collects repeated `name=value` options. */
export function pair(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It looks like name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

export function several(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
