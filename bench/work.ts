export interface Work {
  readonly name: 'get' | 'post' | 'refused' | 'unknown';
  readonly title: string;
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  readonly key: keyof Keys;
  /** Every response must have one of these. */
  readonly statuses: readonly number[];
}

export interface Keys {
  readonly admitted: string;
  readonly refused: string;
  readonly unknown: string;
}

export const PATH = '/pets';

/** A pet of exactly 200 bytes: its name is as long as the contract allows, partly beyond ASCII. */
const NEW_PET = newPet(200);

export const works: readonly Work[] = [
  { name: 'get', title: 'admitted GET', method: 'GET', body: null, key: 'admitted', statuses: [200] },
  {
    name: 'post',
    title: 'admitted POST, 200-byte JSON',
    method: 'POST',
    body: NEW_PET,
    key: 'admitted',
    statuses: [201],
  },
  {
    name: 'refused',
    title: '429 or 403, known-refused key',
    method: 'GET',
    body: null,
    key: 'refused',
    statuses: [429, 403],
  },
  { name: 'unknown', title: '401, unknown key', method: 'GET', body: null, key: 'unknown', statuses: [401] },
];

/** The same for every target. */
export interface Request {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export function requestOf(work: Work, url: string, keys: Keys): Request {
  const headers = { accept: 'application/json', 'x-api-key': keys[work.key] };
  return {
    method: work.method,
    url: url + PATH,
    headers: work.body === null ? headers : { ...headers, 'content-type': 'application/json' },
    body: work.body,
  };
}

export function isAdmitted(work: Work): boolean {
  return work.key === 'admitted';
}

function newPet(bytes: number): string {
  const pet = (name: string) => JSON.stringify({ name, categoryId: 1, status: 'available' });
  const wide = bytes - Buffer.byteLength(pet('')) - 100;
  return pet('Minka '.repeat(20).slice(0, 100 - wide) + 'é'.repeat(wide));
}
