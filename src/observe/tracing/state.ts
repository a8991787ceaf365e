/** Limits of W3C Trace Context section 3.3.1.5. */
const ENOUGH = 512;
const LARGE = 128;

/** If a tracestate exceeds 512 characters, drops large members first, then the last. */
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
