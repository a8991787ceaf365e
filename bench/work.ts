import { makeSecret } from '../src/records/keys/secret.ts';

export interface Work {
  readonly name:
    | 'get'
    | 'get-same'
    | 'get-varied'
    | 'get-100k'
    | 'get-10m'
    | 'post'
    | 'post-10k'
    | 'post-1m'
    | 'refused'
    | 'unknown';
  readonly title: string;
  readonly method: 'GET' | 'POST';
  /** Default: PATH. */
  readonly path?: string;
  readonly body: string | null;
  /** Lua for requests that differ. */
  readonly script?: string;
  readonly key: keyof typeof KEYS;
  /** Every response must have one of these. */
  readonly statuses: readonly number[];
}

/** The same for every target of a run. */
export const KEYS = {
  admitted: makeSecret('bench'),
  refused: makeSecret('bench'),
  unknown: makeSecret('bench'),
};

export const PATH = '/pets';

/** The backend's response at `SIZED` and a number has that many bytes. */
export const SIZED = '/categories/';
export const SIZES = [100_000, 10_000_000] as const;

const JSON_TYPE = 'application/json';

export const works: readonly Work[] = [
  request('get', 'admitted GET'),
  // A script makes wrk slower, and so the gateway finds fewer requests at once.
  request('get-same', 'admitted GET, sent by a script as the next ones', {
    script: takeTurns([JSON_TYPE]),
  }),
  request('get-varied', 'admitted GET, a field differs each time', {
    script: takeTurns(Array.from({ length: 61 }, (_, i) => spelled(JSON_TYPE, i))),
  }),
  request('get-100k', 'admitted GET, 100 KB of response', { path: `${SIZED}${SIZES[0]}` }),
  request('get-10m', 'admitted GET, 10 MB of response', { path: `${SIZED}${SIZES[1]}` }),
  request('post', 'admitted POST, 200-byte JSON', post(newPet(200))),
  request('post-10k', 'admitted POST, 10 KB of JSON', post(petWithVisits(10_000))),
  request('post-1m', 'admitted POST, 1 MB of JSON', post(petWithVisits(1_000_000))),
  request('refused', '429 or 403, known-refused key', { key: 'refused', statuses: [429, 403] }),
  request('unknown', '401, unknown key', { key: 'unknown', statuses: [401] }),
];

function request(name: Work['name'], title: string, more: Partial<Work> = {}): Work {
  return { name, title, method: 'GET', body: null, key: 'admitted', statuses: [200], ...more };
}

function post(body: string): Partial<Work> {
  return { method: 'POST', body, statuses: [201] };
}

/** The schema of `visits`, which storegate and ajv alone check. */
export const VISITS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'at', 'price', 'paid', 'vet'],
    additionalProperties: false,
    properties: {
      id: { type: 'integer', minimum: 0 },
      at: { type: 'string', minLength: 10, maxLength: 30 },
      price: { type: 'number', minimum: 0 },
      paid: { type: 'boolean' },
      note: { type: 'string', nullable: true, maxLength: 1000 },
      tags: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 50 } },
      vet: {
        type: 'object',
        required: ['name', 'city'],
        properties: {
          name: { type: 'string', maxLength: 100 },
          city: { type: 'string', enum: ['Graz', 'Linz', 'Wien'] },
        },
      },
    },
  },
};

/** The same for every target. */
export interface Request {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export function requestOf(work: Work, port: number): Request {
  const headers = { accept: JSON_TYPE, 'x-api-key': KEYS[work.key] };
  return {
    method: work.method,
    url: `http://127.0.0.1:${port}${work.path ?? PATH}`,
    headers: work.body === null ? headers : { ...headers, 'content-type': JSON_TYPE },
    body: work.body,
  };
}

/** nginx has no keys and so no 401; its 429 is the unit of every refusal. */
export function unitWork(work: Work['name']): Work['name'] {
  return work === 'unknown' ? 'refused' : work;
}

export function isAdmitted(work: Work): boolean {
  return work.key === 'admitted';
}

/** The same media type and as long. */
function spelled(text: string, i: number): string {
  return [...text].map((letter, bit) => ((i >> bit) & 1 ? letter.toUpperCase() : letter)).join('');
}

/** 61 is prime: with any usual number of connections, one sees another value each time. */
function takeTurns(accepted: readonly string[]): string {
  return `
local texts, at = {}, 0
function init()
  for i, accept in ipairs({${accepted.map((accept) => `'${accept}'`).join()}}) do
    wrk.headers['accept'] = accept
    texts[i] = wrk.format()
  end
end
function request()
  at = at % #texts + 1
  return texts[at]
end
`;
}

/** Its name is as long as the contract allows, partly beyond ASCII. */
function newPet(bytes: number): string {
  const pet = (name: string) => JSON.stringify({ name, categoryId: 1, status: 'available' });
  const wide = bytes - Buffer.byteLength(pet('')) - 100;
  return pet('Minka '.repeat(20).slice(0, 100 - wide) + 'é'.repeat(wide));
}

/** Slightly shorter than `bytes`. */
function petWithVisits(bytes: number): string {
  const pet = JSON.stringify({ name: 'Minka', categoryId: 1, status: 'available', visits: [] });
  const visits: string[] = [];
  for (let size = pet.length, i = 0; ; i++) {
    const text = JSON.stringify(visit(i));
    size += Buffer.byteLength(text) + 1;
    if (size > bytes) return pet.replace('[]', `[${visits.join(',')}]`);
    visits.push(text);
  }
}

function visit(i: number): object {
  return {
    id: 7_919 * i,
    at: `2026-11-${10 + (i % 20)}T08:${10 + (i % 50)}:00Z`,
    price: i % 3 === 0 ? 40 : 12.5 + i,
    paid: i % 2 === 0,
    note:
      i % 4 === 0
        ? null
        : `Vaccinated, weight ${i % 40} kg, next time in ${i % 12} months${i % 8 === 1 ? ' – très bien' : ''}`,
    tags: ['dog', `batch ${i}`],
    vet: { name: `Dr. ${i % 100} Huber`, city: ['Graz', 'Linz', 'Wien'][i % 3] },
  };
}
