import { h } from 'preact';

/** `file /config/gateway.yaml:12:5`: the folder is the same nearly everywhere, and stands in the title. */
export function Source({ source }: { source: string }) {
  const [, name] = /^file (?:.*[/\\])?([^/\\]+)$/.exec(source) ?? [];
  return h('span', { title: source }, name ?? source);
}
