/** Loaded on demand: a gateway without an endpoint has none of these packages in memory. */
export async function loadSdk() {
  const [api, trace, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  return { api, trace, resources };
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
