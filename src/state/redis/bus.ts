import type { Observe } from '../../observe/events.ts';
import type { Bus, Message } from '../shared/backend.ts';
import { CHANNEL } from './key-names.ts';
import type { Subscriber, Subscription } from './subscriber.ts';

/** Changes of all gateways. A disconnection loses messages; then anything may have changed. */
export function createBus(subscriber: Subscriber, observe: Observe): Bus & Pick<Subscription, 'begun'> {
  const listeners = new Set<(message: Message) => void>();
  const notify = (message: Message) => {
    for (const listener of listeners) listener(message);
  };
  const subscription = subscriber.listen({
    channels: [CHANNEL],
    onMessage: (text) => notify(readMessage(text)),
    onMissed: () => notify({ type: 'anything' }),
    onDisconnect: (isCut) => observe({ type: 'state.connection', of: 'messages', isCut }),
  });
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get isLive() {
      return subscription.isLive;
    },
    begun: (timeout) => subscription.begun(timeout),
  };
}

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
function readMessage(text: string): Message {
  const rest = text.slice(2);
  if (text.startsWith('s:')) return { type: 'subject', subject: rest, banned: false };
  if (text.startsWith('b:')) return { type: 'subject', subject: rest, banned: true };
  if (text.startsWith('k:')) return { type: 'key', hash: rest };
  return { type: 'anything' };
}
