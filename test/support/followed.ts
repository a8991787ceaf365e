export interface FollowedLive {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
  of(event: string): any[];
  readonly ended: boolean;
  stop(): Promise<void>;
}

export async function followLive(
  url: string,
  query = '',
  headers: Record<string, string> = {},
): Promise<FollowedLive> {
  const stopping = new AbortController();
  const response = await fetch(`${url}/live${query}`, { headers, signal: stopping.signal });
  let text = '';
  let ended = false;
  const reading = (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const part of response.body!) text += decoder.decode(part, { stream: true });
    } catch (error) {
      // Our own abort, or a gateway that stopped at once.
      if (!stopping.signal.aborted && (error as Error).message !== 'terminated') throw error;
    }
    ended = true;
  })();
  return {
    status: response.status,
    headers: response.headers,
    of: (event) =>
      [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)]
        .filter(([, name]) => name === event)
        .map(([, , data]) => JSON.parse(data!)),
    get ended() {
      return ended;
    },
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}
