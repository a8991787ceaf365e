import type { Observe } from '../../observe/events.ts';
import type { Bus, Message } from '../shared/bus.ts';
import { CHANNEL } from './key-names.ts';
import { readMessage } from './messages.ts';
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
