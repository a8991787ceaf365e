import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { plural } from '@storegate/admin-api/text';
import { ContractError } from '@storegate/openapi';
import { USAGE_PATH } from '../common/reserved-paths.ts';
import type { Api } from '../config/config.ts';
import { type Contract, loadContract } from '../config/contract/contract.ts';
import { isFile, isRemote, NO_CONTRACT } from '../config/contract/place.ts';
import { isHttpUrl } from '../config/schema/formats.ts';
import { fetchContract } from '../run/contracts/remote.ts';
import { bodyNotes } from './body-notes.ts';
import { CommandError } from './connect/api.ts';
import type { ReadDocument, RequestTreatment } from './init-files.ts';
import type { Terminal } from './terminal.ts';

export interface InitOptions {
  readonly backend?: string;
  /** A file, a URL, or `none`. */
  readonly contract?: string;
  /** `enforce` or `report`. */
  readonly requests?: string;
  readonly directory?: string;
  readonly yes?: boolean;
  readonly start: boolean;
  /** Only with `add`: `name`, `path`, `host`. */
  readonly add?: boolean;
  readonly name?: string;
  readonly path?: string;
  readonly host?: string;
}

/** Milliseconds. */
const TIMEOUT = 10_000;

export const print = (terminal: Terminal, name: string, text: string) =>
  terminal.out(`${name.padEnd(9)} ${text}\n`);

/** What the contract needs beyond the settings. */
export function printNotes(
  terminal: Terminal,
  api: Api,
  contract: Contract,
): void {
  for (const note of bodyNotes(api, contract)) print(terminal, 'Note', note);
}

/** Of an API whose backend responds and whose contract can be used. Paths are relative to `folder`. */
export async function readInputs(
  terminal: Terminal,
  options: InitOptions,
  folder: string,
) {
  const backend = await backendFrom(terminal, options);
  const place = await contractFrom(terminal, options);
  const status = await statusOf(backend);
  print(terminal, 'Backend', `${backend} responds (GET /: ${status})`);
  const document = await documentAt(place, terminal.cwd);
  print(terminal, 'Contract', describe(document.contract, place));
  const file = isFile(place)
    ? relative(folder, resolve(terminal.cwd, place))
    : place;
  return { backend, file, document };
}

async function backendFrom(
  { ask }: Terminal,
  { backend, yes }: InitOptions,
): Promise<string> {
  const input =
    backend ??
    (yes
      ? undefined
      : await ask?.('URL of your API, such as http://127.0.0.1:3000: '));
  if (input === undefined)
    throw new CommandError('--backend is missing: the URL of your API', {
      failure: 'usage',
    });
  const url = input.trim();
  if (!isHttpUrl(url)) {
    const form = 'an http or https URL without credentials, query and fragment';
    throw new CommandError(
      `--backend must be ${form}, such as http://127.0.0.1:3000`,
      {
        failure: 'usage',
      },
    );
  }
  return url.replace(/\/+$/, '');
}

async function contractFrom(
  { ask }: Terminal,
  { contract, yes }: InitOptions,
): Promise<string> {
  const question =
    'OpenAPI document, a file or URL (none: requests are not validated): ';
  const input = contract ?? (yes ? undefined : await ask?.(question));
  if (input === undefined || input.trim() === '')
    throw new CommandError('--contract is missing: a file, a URL, or none', {
      failure: 'usage',
    });
  const place = input.trim();
  if (!isRemote(place) || isHttpUrl(place)) return place;
  throw new CommandError(
    '--contract must be a file, none, or a URL without credentials, query and fragment',
    {
      failure: 'usage',
    },
  );
}

/** Not asked beside a contract that was given as an option. */
export async function requestsFrom(
  { ask }: Terminal,
  { requests, contract, yes }: InitOptions,
): Promise<RequestTreatment> {
  const question =
    'Requests that violate the contract: enforce refuses them, report only logs them [enforce]: ';
  const input =
    requests ??
    (yes || contract !== undefined ? undefined : await ask?.(question));
  const treatment = input?.trim() || 'enforce';
  if (treatment === 'enforce' || treatment === 'report') return treatment;
  throw new CommandError('--requests must be enforce or report', {
    failure: 'usage',
  });
}

/** The status of `GET /`. Any response shows that the backend can be reached. */
async function statusOf(backend: string): Promise<number> {
  const response = await respond(`${backend}/`);
  if (typeof response !== 'string') return response.status;
  throw new CommandError(
    `${backend} does not respond (${response}). Start your API, or correct --backend.`,
  );
}

/** Without the body; the reason without a response. */
export async function respond(
  url: string,
  init: RequestInit = {},
): Promise<Response | string> {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    await response.body?.cancel();
    return response;
  } catch (error) {
    const { name, cause } = error as Error;
    const { code, message = name } = Object(
      cause,
    ) as Partial<NodeJS.ErrnoException>;
    return code ?? message;
  }
}

async function documentAt(
  place: string,
  cwd: string,
): Promise<ReadDocument & { readonly contract: Contract }> {
  const file = isFile(place) ? resolve(cwd, place) : place;
  if (isFile(place) && !existsSync(file))
    throw new CommandError(`${file} does not exist. Correct --contract.`);
  const text = isRemote(place) ? (await fetchContract(place)).text : undefined;
  // As the gateway reads it by default.
  const reading = { text, responses: 'off' } as const;
  try {
    return { contract: loadContract(file, reading), onUnsupported: 'refuse' };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    try {
      return {
        contract: loadContract(file, { ...reading, onUnsupported: 'pass' }),
        onUnsupported: 'pass',
      };
    } catch (worse) {
      throw worse instanceof ContractError ? error : worse;
    }
  }
}

function describe(
  { title, version, operations, exempted }: Contract,
  place: string,
): string {
  if (place === NO_CONTRACT)
    return `none: every path but ${USAGE_PATH} is forwarded, and requests are not validated`;
  const open = operations.filter(({ isPublic }) => isPublic).length;
  const all =
    `${title} ${version}, ${plural(operations.length, 'operation')}`.replace(
      /\s+/g,
      ' ',
    );
  return [
    all,
    open > 0 ? `${open} without a key` : '',
    exempted.length > 0 ? `${exempted.length} not validated` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}
