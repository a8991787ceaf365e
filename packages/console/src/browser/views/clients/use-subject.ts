import type { Audit, BanHistory, Requests, UsageList } from '../../../admin-api.ts';
import { type Answer, useAnswer, useRefreshWith } from '../../api/use-answer.ts';
import { isKeyId } from '../../key-id.ts';

const SHOWN = 20;

/** What a key or an account has left behind. */
export interface SubjectRecords {
  readonly usage: Answer<UsageList>;
  readonly bans: Answer<BanHistory>;
  readonly refusals: Answer<Requests>;
  readonly changes: Answer<Audit>;
  readonly refresh: () => void;
}

export function useSubject(name: string): SubjectRecords {
  const isKey = isKeyId(name);
  // An account may have many keys, each of which is looked at.
  const usage = useAnswer(`/usage/${encodeURIComponent(name)}`, { every: isKey ? 5_000 : 15_000 });
  const bans = useAnswer('/ban-history', { query: { subject: name, limit: SHOWN } });
  const refusals = useAnswer('/requests', {
    query: { key: isKey ? name : undefined, account: isKey ? undefined : name, limit: SHOWN },
    every: 10_000,
  });
  const changes = useAnswer('/audit', { query: { target: name, limit: SHOWN } });
  useRefreshWith(bans, usage.value && JSON.stringify(usage.value.usage.map(({ banned }) => banned)));
  const refresh = () => {
    for (const answer of [usage, bans, refusals, changes]) void answer.refresh();
  };
  return { usage, bans, refusals, changes, refresh };
}
