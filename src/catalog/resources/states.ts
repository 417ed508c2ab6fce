/** Codes of `state`: the 50 states, DC, five territories and the three military codes (D20). */
export const STATES = [
  ...['AL', 'AK', 'AZ', 'AR', 'CA', 'CO', 'CT', 'DE', 'FL', 'GA', 'HI', 'ID', 'IL', 'IN', 'IA', 'KS', 'KY', 'LA', 'ME'],
  ...['MD', 'MA', 'MI', 'MN', 'MS', 'MO', 'MT', 'NE', 'NV', 'NH', 'NJ', 'NM', 'NY', 'NC', 'ND', 'OH', 'OK', 'OR', 'PA'],
  ...['RI', 'SC', 'SD', 'TN', 'TX', 'UT', 'VT', 'VA', 'WA', 'WV', 'WI', 'WY', 'DC'],
  ...['AS', 'GU', 'MP', 'PR', 'VI'],
  ...['AA', 'AE', 'AP'],
] as const;

/** A code of two letters that is not listed, in upper case: the specification says only "US state or territory code". */
export function anyState(text: string): string | undefined {
  return /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : undefined;
}
