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

Every error of the gateway is \`{"code", "message", "status"}\` with \`Content-Type: application/json\`. Programs read \`code\`, people
read \`message\`: what happened and what to do, in at most two sentences. Operators find the request by its \`X-Request-Id\` in the log
and with \`storegate explain\`. The backend has its own codes (such as \`unknown_category\`) in the same form.

Every error of the gateway has the header \`Link: </docs/#errors-CODE>; rel="help"\`, the entry of its code on the reference page. If
\`reference.enabled\` is \`false\`, the page and the header are absent.

Every 429 and 503 of the gateway, also of \`/usage\`, and every ban has \`Retry-After\`: whole seconds, at least 1. 502 and 504 have
none, because the gateway cannot know when that backend responds again.

\`404\` and \`405\` messages quote the method and the path, without the query, at most 200 characters, with keys masked.

\`400 invalid_request\` adds \`details\`: one \`{"in", "pointer", "message", "rule", "limit"}\` for each fault. \`in\` is \`path\`,
\`query\`, \`header\`, \`cookie\` or \`body\`; \`pointer\` is a JSON pointer (RFC 6901); \`rule\` is listed below. \`limit\` is a value of the
contract, never a value of the request; some rules have none.

If \`Accept\` prefers \`application/problem+json\` to \`application/json\`, errors are objects of RFC 9457: \`type\` (the entry of the code
on the reference page), \`title\`, \`detail\`, and the members above. Errors for input that is not valid HTTP are always plain JSON.

| status | code | what happened | what to do |
|---|---|---|---|
${rows.join('\n')}

## Rules

Each fault in \`details\` violates one rule. Rules never change their meaning; new rules may be added. A number in \`limit\` that a
double cannot hold exactly is a string of its digits.

| rule | meaning | limit |
|---|---|---|
${ruleRows().join('\n')}
`;
}
