/** What everybody must send on, and members that may be left out first where a list is longer (W3C Trace Context section 3.3.1.5). */
const ENOUGH = 512;
const LARGE = 128;

/** A well-formed tracestate as it is sent on: whole up to 512 characters; of a longer one the large members go, then the last. */
export function limitedState(state: string): string {
  if (state.length <= ENOUGH) return state;
  let members = state.split(',');
  let length = state.length;
  const shorten = (keep: (member: string) => boolean) => {
    members = members.filter((member) => {
      if (length <= ENOUGH || keep(member)) return true;
      length -= member.length + 1;
      return false;
    });
  };
  shorten((member) => member.length <= LARGE);
  while (length > ENOUGH) length -= members.pop()!.length + 1;
  return members.join(',');
}
