import { CATALOGUE, type Code } from '../errors/refusals.ts';

export interface ErrorCode {
  readonly code: Code;
  readonly status: number;
  /** A sentence. */
  readonly title: string;
  /** The advice for the caller; names and headers are in backticks. */
  readonly advice: string;
}

/** The catalogue in the order of its status codes. */
export const errorCodesByStatus: readonly ErrorCode[] = Object.entries(CATALOGUE)
  .map(([code, entry]) => ({ code: code as Code, ...entry }))
  .sort((a, b) => a.status - b.status);

/** The catalogue of error codes as Markdown; docs/errors.md is this text. */
export function errorCodes(): string {
  const rows = errorCodesByStatus.map(
    ({ code, status, title, advice }) => `| ${status} | \`${code}\` | ${title} | ${advice} |`,
  );
  return `# Error codes

Every error of the gateway is \`{"code", "message", "status"}\` with \`Content-Type: application/json\`. Programs look at \`code\`,
people at \`message\`. The answer's \`X-Request-Id\` finds the request in the gateway's log. The store has codes of its own for what
it refuses (such as \`unknown_category\`), in the same form.

\`400 invalid_request\` adds \`details\`: one \`{"in", "pointer", "message"}\` for each fault, where \`in\` is \`path\`, \`query\`,
\`header\`, \`cookie\` or \`body\`, and \`pointer\` a JSON pointer (RFC 6901).

| status | code | meaning | what to do |
|---|---|---|---|
${rows.join('\n')}
`;
}
