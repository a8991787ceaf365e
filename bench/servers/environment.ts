/** What the bench tells its peers. Throws when one is missing: a peer that guesses would measure something else. */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

export const port = Number(required('PORT'));
export const backendUrl = required('BACKEND_URL');
export const admittedKey = required('ADMITTED_KEY');
export const refusedKey = required('REFUSED_KEY');
export const redisUrl = () => required('REDIS_URL');

/** Connections to the backend; as many as storegate's default. */
export const CONNECTIONS = 128;
