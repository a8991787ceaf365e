/** Addresses in `deny` are refused. If `allow` has lists, only addresses in one of them are accepted. */
export interface AddressLists {
  readonly allow: readonly AddressList[];
  readonly deny: readonly AddressList[];
}

export interface AddressList {
  /** File that the entries come from; `null` if they come from the settings. */
  readonly file: string | null;
  readonly entries: readonly string[];
}

export const hasLists = ({ allow, deny }: AddressLists): boolean => allow.length + deny.length > 0;

export function listsOf(allow: readonly string[], deny: readonly string[]): AddressLists {
  const own = (entries: readonly string[]) => (entries.length === 0 ? [] : [{ file: null, entries }]);
  return { allow: own(allow), deny: own(deny) };
}
