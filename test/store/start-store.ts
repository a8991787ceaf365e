import { createStore, type Store } from '../../src/store/store.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** As JavaScript reads it: integers beyond 2^53 are rounded. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into, and a wrong look fails the test
  readonly json: any;
}

export interface RunningStore {
  readonly store: Store;
  readonly url: string;
  /** A body that is not a string is sent as JSON. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
}

const running = new Set<Store>();

/** For `afterEach` of each suite that starts stores. */
export async function closeStores(): Promise<void> {
  await Promise.all([...running].map((store) => store.close()));
  running.clear();
}

export async function startStore(file = ':memory:'): Promise<RunningStore> {
  const store = createStore(file);
  running.add(store);
  const { url } = await store.listen({ host: '127.0.0.1', port: 0 });
  return {
    store,
    url,
    send: (method, path, body, headers) => send(url + path, method, body, headers),
  };
}

async function send(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const json = bytes === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(url, {
    method,
    headers: { ...json, ...headers },
    body: bytes ?? null,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}

/** One category and one pet, both with the identifier `id`, and `stock` of the pet. */
export async function startStoreWithPet(
  stock = 0,
  { file, id = 1n }: { readonly file?: string; readonly id?: bigint } = {},
): Promise<RunningStore> {
  const running = await startStore(file);
  running.store.db.exec(`INSERT INTO categories (id, name) VALUES (${id}, 'Cats');
    INSERT INTO pets (id, name, categoryId, status, quantity)
    VALUES (${id}, 'Minka', ${id}, 'available', ${stock})`);
  return running;
}

/** Adds pets of a category, in stock. */
export function addPets({ db }: Store, category: number, ...names: readonly string[]): void {
  const insert = db.prepare(
    "INSERT INTO pets (name, categoryId, status, quantity) VALUES (?, ?, 'available', 5)",
  );
  for (const name of names) insert.run(name, category);
}
