import type { MakeInvariant } from './invariant.ts';

/** An outage begins once and ends once, in the events of each process and for webhooks. */
export const incidents: MakeInvariant = ({ simulation }) => {
  const open = new Set<string>();
  let begun = 0;
  let ended = 0;

  return {
    name: 'an outage begins once and ends once',
    observe(fact) {
      if (fact.type !== 'event') return null;
      const { event, process } = fact;
      if (event.type === 'state.outage') {
        begun++;
        if (open.has(process)) return `one beginning of the outage of ${process}, not two`;
        open.add(process);
      }
      if (event.type === 'state.recovered') {
        ended++;
        if (!open.delete(process)) return `no end of an outage of ${process} that did not begin`;
      }
      return null;
    },
    async check() {
      // A process that ended during an outage has not seen its end.
      const running = simulation.gateways.map(({ process }) => process?.name);
      const endless = [...open].filter((process) => running.includes(process));
      if (endless.length > 0) return `an end of the outage of ${endless.join(', ')}`;
      const ups = simulation.receiver.of('state.up').length;
      const downs = simulation.receiver.of('state.down').length;
      if (ups > ended || downs > begun)
        return `${begun} beginnings and ${ended} ends, not ${downs} and ${ups} events`;
      return null;
    },
  };
};
