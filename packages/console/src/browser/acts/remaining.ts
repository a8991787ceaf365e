import type { UsageList } from '../../admin-api.ts';
import { clockTime, number } from '../format.ts';

/** What is left in every window after a change, and a ban that stays, in sentences. */
export function remainingText({ usage }: UsageList): string {
  const sentences = usage.map(({ key, account, plan, windows, banned }) => {
    const left = windows.map(({ name, limit, remaining }) => `${number(remaining)} of ${number(limit)} in ${name}`);
    const who = usage.length === 1 ? 'Left' : `${key ?? account} (${plan})`;
    const ban = banned === null ? '' : ` Still banned until ${clockTime(banned)}: lift the ban to end it.`;
    return `${who}: ${left.join(', ')}.${ban}`;
  });
  return sentences.join(' ');
}
