/** Throws if it is missing: a default would change what is measured. */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

export const port = Number(required('PORT'));
export const backendUrl = required('BACKEND_URL');
export const admittedKey = required('ADMITTED_KEY');
export const refusedKey = required('REFUSED_KEY');
/** Empty if the server has no limits. */
export const redisUrl = process.env.REDIS_URL ?? '';

/** Storegate's default. */
export const CONNECTIONS = 128;
