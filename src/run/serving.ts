import type { ServedConfig } from '../config/config.ts';
import { createRuledLines } from '../gateway/reply/headers.ts';
import { createUnparsedReplies } from '../gateway/reply/unparsed.ts';
import { createConnectionLimits } from '../gateway/wire/connection-limits.ts';
import {
  createListener,
  type ListenOptions,
} from '../gateway/wire/listener.ts';
import type { ActiveApi } from './apis.ts';
import { buildPipeline } from './build.ts';
import { hasReference } from './client-pages.ts';
import { openLongLived, type ServingParts } from './long-lived.ts';
import type { ActiveConfig } from './reload.ts';
import { urlOf } from './url.ts';

/** Milliseconds. */
const PREPARE_TIMEOUT = 5_000;

export function createServing(parts: ServingParts) {
  const { settings, guard, observe, ticketSecret } = parts;
  const { config } = settings;
  const longLived = openLongLived(parts);
  const { keyring, uses, upstreams, bodies } = longLived;
  let pipeline = buildPipeline(settings, longLived);
  const closing = new AbortController();
  let compiling = new AbortController();
  const replyUnparsed = createUnparsedReplies({
    guard,
    observe,
    hasReference: () => inForce.apis.some(({ api }) => hasReference(api)),
    ruled: () => createRuledLines(inForce.config.headers.response),
  });
  const limits = createConnectionLimits(connectionLimits(config), observe);
  const listener = createListener({
    config,
    limits,
    replyUnparsed,
    ticketSecret,
    observe,
    handle: (call) => pipeline(call),
  });
  // So that the first reload frees the first contract.
  let inForce = settings;
  usePreamble(settings);

  function usePreamble({
    config,
    certificates,
  }: ActiveConfig<ServedConfig>): void {
    listener.use(
      certificates.listen,
      config.listen.proxyProtocol.trustedBalancers,
    );
  }

  async function compile(apis: readonly ActiveApi[]): Promise<void> {
    const late = AbortSignal.timeout(PREPARE_TIMEOUT);
    const signal = AbortSignal.any([closing.signal, late]);
    const known = new Set(inForce.apis.map(({ contract }) => contract));
    for (const { contract } of apis)
      if (!known.has(contract)) await contract.prepare(signal);
  }

  function compileRest(apis: readonly ActiveApi[]): void {
    compiling.abort();
    compiling = new AbortController();
    const signal = AbortSignal.any([closing.signal, compiling.signal]);
    const inOrder = async () => {
      for (const { contract } of apis) await contract.prepare(signal);
    };
    inOrder().catch((error: unknown) =>
      observe({ type: 'bug', id: 'contract', error }),
    );
  }

  return {
    keyring,
    uses,
    upstreams,
    bodies,
    get inFlight() {
      return listener.inFlight;
    },
    /** Called again, it keeps the port. Rejects with ListenError. */
    async listen(options?: ListenOptions): Promise<string> {
      await keyring.opened;
      const url = urlOf(
        config.listen.host,
        await listener.listen(options),
        inForce.certificates.listen !== null,
      );
      compileRest(inForce.apis);
      return url;
    },
    /** Compiles another contract first, without delaying requests. */
    async use(settings: ActiveConfig<ServedConfig>): Promise<void> {
      await compile(settings.apis);
      inForce = settings;
      longLived.use(settings);
      limits.use(connectionLimits(settings.config));
      usePreamble(settings);
      pipeline = buildPipeline(settings, longLived);
      compileRest(settings.apis);
    },
    drain: listener.drain,
    async close(): Promise<void> {
      closing.abort();
      await longLived.close();
    },
  };
}

export type Serving = ReturnType<typeof createServing>;

function connectionLimits({
  http,
  listen,
}: ServedConfig): Parameters<typeof createConnectionLimits>[0] {
  return { ...http, balancers: listen.proxyProtocol.trustedBalancers };
}
