import type { OutgoingRequest, Pair } from '../model/request.ts';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: readonly Pair[];
  readonly content: Blob;
  /** `null` if it is not text. */
  readonly text: string | null;
  readonly milliseconds: number;
}

const TEXT = /^$|^text\/|json|xml|yaml|javascript|urlencoded/i;

/** @throws TypeError if no response arrives */
export async function send({
  method,
  url,
  headers,
  cookies,
  body,
}: OutgoingRequest): Promise<ReceivedResponse> {
  const started = performance.now();
  // A request cannot name its cookies; the browser sends those of the page.
  const setCookies = (attributes: string) => {
    for (const cookie of cookies) {
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs HTTPS.
      document.cookie = `${cookie}; path=/; samesite=strict${attributes}`;
    }
  };
  setCookies('');
  try {
    const response = await fetch(url, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      body:
        typeof body === 'string' || body instanceof File || body === null
          ? body
          : formOf(body),
      cache: 'no-store',
    });
    const type = response.headers.get('Content-Type') ?? '';
    const content = new Blob([await response.arrayBuffer()], { type });
    return {
      status: response.status,
      headers: limitsFirst([...response.headers]),
      content,
      text: TEXT.test(content.type) ? await content.text() : null,
      milliseconds: Math.round(performance.now() - started),
    };
  } finally {
    setCookies('; max-age=0');
  }
}

function formOf(
  parts: Exclude<OutgoingRequest['body'], string | File | null>,
): FormData {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  return form;
}

const isLimit = ([name]: Pair): boolean =>
  /ratelimit|retry-after|x-ban/.test(name);

const limitsFirst = (headers: readonly Pair[]): readonly Pair[] => [
  ...headers.filter(isLimit),
  ...headers.filter((header) => !isLimit(header)),
];
