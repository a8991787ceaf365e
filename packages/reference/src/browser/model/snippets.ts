import { compactJson } from './json-text.ts';
import type { OutgoingRequest } from './request.ts';

/** Code that sends a request, by language. */
export const SNIPPETS: Readonly<
  Record<string, (request: OutgoingRequest) => string>
> = {
  curl,
  JavaScript,
  Python,
};

const headersOf = ({
  headers,
  cookies,
}: OutgoingRequest): readonly (readonly [string, string])[] =>
  cookies.length === 0 ? headers : [...headers, ['Cookie', cookies.join('; ')]];

const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curl(request: OutgoingRequest): string {
  const { method, url, body } = request;
  const options = [
    method === 'HEAD' ? '--head' : `-X ${method}`,
    shell(url),
    ...headersOf(request).map(
      ([name, value]) => `-H ${shell(`${name}: ${value}`)}`,
    ),
  ];
  if (typeof body === 'string') options.push(`--data-raw ${shell(body)}`);
  else if (body instanceof File)
    options.push(`--data-binary ${shell(`@${body.name}`)}`);
  else
    for (const [name, value] of body ?? [])
      options.push(
        typeof value === 'string'
          ? `--form-string ${shell(`${name}=${value}`)}`
          : `-F ${shell(`${name}=@${value.name}`)}`,
      );
  return `curl ${options.join(' \\\n  ')}`;
}

/** A literal of both languages. */
const quoted = (text: string): string => JSON.stringify(text);

const headerLiteral = (request: OutgoingRequest): string =>
  JSON.stringify(Object.fromEntries(headersOf(request)), null, 4);

function JavaScript(request: OutgoingRequest): string {
  const { method, url, body } = request;
  const options = [
    `method: ${quoted(method)}`,
    `headers: ${headerLiteral(request)}`,
  ];
  const file = (name: string) => `await openAsBlob(${quoted(name)})`;
  const lines: string[] = [];
  if (typeof body === 'string')
    options.push(`body: ${quoted(compactJson(body))}`);
  else if (body instanceof File) options.push(`body: ${file(body.name)}`);
  else if (body !== null) {
    lines.push('const form = new FormData();');
    options.push('body: form');
    for (const [name, value] of body)
      lines.push(
        typeof value === 'string'
          ? `form.append(${quoted(name)}, ${quoted(value)});`
          : `form.append(${quoted(name)}, ${file(value.name)}, ${quoted(value.name)});`,
      );
  }
  const code = `const response = await fetch(${quoted(url)}, {\n  ${options.join(',\n  ')},\n});
console.log(response.status, await response.text());`;
  const reads = [...lines, ...options].some((line) =>
    line.includes('await openAsBlob('),
  );
  return [
    ...(reads ? ["import { openAsBlob } from 'node:fs';\n"] : []),
    ...lines,
    code,
  ].join('\n');
}

function Python(request: OutgoingRequest): string {
  const { method, url, body } = request;
  const options = [
    quoted(method),
    quoted(url),
    `headers=${headerLiteral(request)}`,
  ];
  const file = (name: string) => `open(${quoted(name)}, "rb")`;
  if (typeof body === 'string')
    options.push(`data=${quoted(compactJson(body))}.encode()`);
  else if (body instanceof File) options.push(`data=${file(body.name)}`);
  else if (body !== null) {
    const parts = body.map(([name, value]) =>
      typeof value === 'string'
        ? `(${quoted(name)}, (None, ${quoted(value)}))`
        : `(${quoted(name)}, ${file(value.name)})`,
    );
    options.push(`files=[${parts.join(', ')}]`);
  }
  return `import requests\n\nresponse = requests.request(\n    ${options.join(',\n    ')},\n)
print(response.status_code, response.text)`;
}
