/** For a person on this machine. */
export function urlOf(host: string, port: number, tls = false): string {
  const reachable =
    host === '0.0.0.0' || host === '::'
      ? 'localhost'
      : host.includes(':')
        ? `[${host}]`
        : host;
  return `${tls ? 'https' : 'http'}://${reachable}:${port}`;
}
