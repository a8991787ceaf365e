/** Messages between the tabs of one console: `used`, a person is there; `session`, a sign-in or sign-out. */
export type TabMessage = 'used' | 'session';

const channel = new BroadcastChannel('storegate console');

/** Other tabs hear it, this one does not. */
export const notifyTabs = (word: TabMessage) => channel.postMessage(word);

/** Returns how to stop listening. */
export function onTabMessage(word: TabMessage, listener: () => void): () => void {
  const heard = ({ data }: MessageEvent) => {
    if (data === word) listener();
  };
  channel.addEventListener('message', heard);
  return () => channel.removeEventListener('message', heard);
}
