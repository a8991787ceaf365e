/** Requests are not validated, and every path but those of the gateway is forwarded. */
export const NO_CONTRACT = 'none';

export const isRemote = (place: string): boolean => /^https?:/i.test(place);

export const isFile = (place: string): boolean =>
  place !== NO_CONTRACT && !isRemote(place);
