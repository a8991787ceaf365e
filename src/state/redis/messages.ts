import type { Message } from '../shared/bus.ts';

export function subjectChanged(subject: string): string {
  return `s:${subject}`;
}

export function subjectBanned(subject: string): string {
  return `b:${subject}`;
}

export function keyChanged(hash: string): string {
  return `k:${hash}`;
}

export const EVERYTHING_CHANGED = '*';

/** An unknown message means that anything may have changed. */
export function readMessage(text: string): Message {
  const rest = text.slice(2);
  if (text.startsWith('s:')) return { type: 'subject', subject: rest, banned: false };
  if (text.startsWith('b:')) return { type: 'subject', subject: rest, banned: true };
  if (text.startsWith('k:')) return { type: 'key', hash: rest };
  return { type: 'anything' };
}
