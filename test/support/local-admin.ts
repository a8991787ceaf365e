import { adminSocketsIn, fetchThrough } from '../../src/state/admin-sockets.ts';

/** Calls the admin API as a command in the data folder does: through the socket of its first gateway. */
export async function localAdmin(
  data: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetchThrough(adminSocketsIn(data)[0]!, path, { method, headers });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
  return { status: response.status, body: (await response.json()) as any };
}
