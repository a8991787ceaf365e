import type { Call, ParamsOf } from '../src/index.ts';

/**
 * Calls that differ from the contract. Type check only: `npm run check` fails if one of them
 * compiles, because its `@ts-expect-error` is then unused.
 */
export async function mistakes(call: Call): Promise<void> {
  const { keys } = await call('listKeys', { params: { account: 'acme', limit: 10 } });
  await call('updateKey', { params: { id: keys[0]!.id }, body: { label: null }, reason: 'moved' });
  await call('getStatus');
  await call('rotateKey', { params: { id: 'key_1' } });
  const filter: ParamsOf<'listAudit'> = { actor: undefined, below: 7 };
  await call('listAudit', { params: filter });

  // @ts-expect-error an operation that does not exist
  await call('listNothing');
  // @ts-expect-error a misspelt field of a body
  await call('createKey', { body: { account: 'acme', plan: 'free', lable: 'nightly' } });
  // @ts-expect-error a field of a body with another type
  await call('createKey', { body: { account: 'acme', plan: 1 } });
  // @ts-expect-error a body without a required field
  await call('createKey', { body: { account: 'acme' } });
  // @ts-expect-error a misspelt field of an optional body
  await call('rotateKey', { params: { id: 'key_1' }, body: { overlaps: '1h' } });
  // @ts-expect-error a required body is missing
  await call('createKey', {});
  // @ts-expect-error a body for an operation without one
  await call('disableKey', { params: { id: 'key_1' }, body: { reason: 'leaked' } });
  // @ts-expect-error a parameter of the path is missing
  await call('getKey');
  // @ts-expect-error a misspelt parameter of the path
  await call('getKey', { params: { key: 'key_1' } });
  // @ts-expect-error a misspelt parameter of the query
  await call('listKeys', { params: { acount: 'acme' } });
  // @ts-expect-error a parameter with another type
  await call('listKeys', { params: { limit: '10' } });
  // @ts-expect-error a value that the contract does not list
  await call('getTop', { params: { window: 'week' } });
  // @ts-expect-error parameters of an operation without any
  await call('getStatus', { params: { limit: 1 } });
  // @ts-expect-error a field that the response does not have
  (await call('getKey', { params: { id: 'key_1' } })).secret;
}
