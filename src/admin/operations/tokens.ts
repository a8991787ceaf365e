import { CONFIGURED, hashToken, makeToken, type TokenRecord } from '../../operators/tokens.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, created, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { time } from '../shown.ts';

const shown = ({ name, role, createdAt }: TokenRecord) => ({ name, role, created: time(createdAt) });

export function tokenOperations({ tokens }: AdminContext): AdminOperations {
  return {
    listTokens: { role: 'admin', run: async () => ok({ tokens: (await tokens.list()).map(shown) }) },
    createToken: {
      role: 'admin',
      run: async ({ body: { name, role }, now, note }) => {
        const token = makeToken();
        const record: TokenRecord = { name, role, hash: hashToken(token), createdAt: now };
        const answer = created({ ...shown(record), token });
        const entry = { action: 'tokens.create', target: name, before: null, after: shown(record) };
        if (name === CONFIGURED || !(await tokens.add(record, note(entry, answer)))) {
          throw new AdminError(
            'conflict',
            `The name ${name} is taken: revoke that token first, or choose another name.`,
          );
        }
        return answer;
      },
    },
    revokeToken: {
      role: 'admin',
      run: async ({ path, note }) => {
        const record = (await tokens.list()).find(({ name }) => name === path.name);
        if (!record) throw new AdminError('not_found', `There is no token of the name ${JSON.stringify(path.name)}.`);
        const answer = ok(shown(record));
        const entry = { action: 'tokens.revoke', target: record.name, before: shown(record), after: null };
        await tokens.remove(record.name, note(entry, answer));
        return answer;
      },
    },
  };
}
