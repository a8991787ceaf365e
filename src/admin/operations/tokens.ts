import { hashSecret } from '../../records/keys/secret.ts';
import {
  CONFIGURED,
  configuredToken,
  makeToken,
  type TokenRecord,
} from '../../records/operators/tokens.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { Change, ChangeEntry } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { time } from '../view.ts';

const shown = ({ name, role, createdAt }: TokenRecord) => ({
  name,
  role,
  created: time(createdAt),
});
const turnOf = (name: string) => `token:${name}`;

export function tokenOperations(
  { tokens, config }: AdminContext,
  change: Change,
) {
  return {
    listTokens: async () => ({ tokens: (await tokens.list()).map(shown) }),
    createToken: (task) => {
      const { name, role } = task.body;
      return change(task, turnOf(name), async ({ note }) => {
        const token = makeToken();
        const record: TokenRecord = {
          name,
          role,
          hash: hashSecret(token),
          createdAt: task.now,
        };
        const isConfigured = configuredToken(config().admin.token).length > 0;
        const first = !isConfigured && (await tokens.list()).length === 0;
        const response = { ...shown(record), token, first };
        const entry: ChangeEntry = {
          action: 'tokens.create',
          target: name,
          before: null,
          after: shown(record),
        };
        if (
          name === CONFIGURED ||
          !(await tokens.add(record, note(entry, response)))
        ) {
          throw new AdminError(
            'conflict',
            `The name ${name} is taken: revoke that token first, or choose another name.`,
          );
        }
        return response;
      });
    },
    revokeToken: (task) => {
      const name = task.path.name;
      const unknown = () =>
        new AdminError(
          'not_found',
          `The token ${JSON.stringify(name)} does not exist.`,
        );
      return change(task, turnOf(name), async ({ note }) => {
        const record = (await tokens.list()).find((one) => one.name === name);
        if (!record) throw unknown();
        const response = shown(record);
        const entry: ChangeEntry = {
          action: 'tokens.revoke',
          target: name,
          before: shown(record),
          after: null,
        };
        // Another gateway may have been faster.
        if (!(await tokens.remove(name, note(entry, response))))
          throw unknown();
        return response;
      });
    },
  } satisfies Partial<AdminOperations>;
}
