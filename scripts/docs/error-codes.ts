import { RULES } from '@storegate/openapi';
import { ERROR_CODES } from '../../src/common/errors/catalogue.ts';

function ruleRows(): string[] {
  const rules: [string, { title: string; limit?: string }][] = Object.entries(RULES);
  return rules.map(([rule, { title, limit = '' }]) => `| \`${rule}\` | ${title} | ${limit} |`);
}

/** The catalogue of error codes as Markdown; docs/errors.md is this text. */
export function errorCodes(): string {
  const rows = ERROR_CODES.map(
    ({ code, status, title, advice }) => `| ${status} | \`${code}\` | ${title} | ${advice} |`,
  );
  return `# Error codes

Every error of the gateway is \`{"code", "message", "status"}\`. Programs read \`code\`, people read \`message\`: what happened and what to do.
Operators find the request by its \`X-Request-Id\` in the log and with \`storegate explain\`. Backends have codes of their own.

Unless \`reference.enabled\` is \`false\`, an error has the header \`Link: </docs/#errors-CODE>; rel="help"\`, the entry of its code on the
reference page. Every 429, 503 and ban has \`Retry-After\`: whole seconds, at least 1. 502 and 504 have none, because the gateway cannot know when
the backend responds again. \`404\` and \`405\` messages quote method and path, at most 200 characters, with keys masked.

\`400 invalid_request\` adds \`details\`: one \`{"in", "pointer", "message", "rule", "limit"}\` for each fault. \`in\` is \`path\`,
\`query\`, \`header\`, \`cookie\` or \`body\`; \`pointer\` is a JSON pointer (RFC 6901); \`rule\` is listed below. \`limit\` is a value of the
contract, never of the request.

If \`Accept\` prefers \`application/problem+json\`, errors are objects of RFC 9457: \`type\` (the entry of the code), \`title\`, \`detail\`, and the
members above. Errors for input that is not valid HTTP are always plain JSON.

| status | code | what happened | what to do |
|---|---|---|---|
${rows.join('\n')}

## Rules

New rules may be added. A number in \`limit\` that a double cannot hold exactly is a string of its digits.

| rule | meaning | limit |
|---|---|---|
${ruleRows().join('\n')}
`;
}
