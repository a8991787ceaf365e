/** What tabs of one console tell each other: `used`, a person is there; `session`, somebody signed in or out. */
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
