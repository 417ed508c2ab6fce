/** What people look for and the API does not have: what there is instead. */
interface Unoffered {
  readonly message: string;
  readonly hint: string;
}

const NAMED_HERE = (things: string, kind: string): Unoffered => ({
  message: `The API has no list of ${things}: their names are kept here, by profile.`,
  hint: `molar names list --kind ${kind} shows them; molar names learn collects their ids from records.`,
});

const UNOFFERED: Readonly<Record<string, Unoffered>> = {
  'patients delete': {
    message: 'The API cannot delete patients.',
    hint: 'Give one another status instead: molar patients update ID --patient-status INACTIVE',
  },
  providers: NAMED_HERE('providers', 'provider'),
  locations: NAMED_HERE('locations', 'location'),
  operatories: NAMED_HERE('operatories', 'operatory'),
};

/** What to say of words that name something that the API does not have (D55); undefined for any others. */
export function unoffered([topic = '', verb = '']: readonly string[]): Unoffered | undefined {
  const name = [`${topic} ${verb}`, topic].find((each) => Object.hasOwn(UNOFFERED, each));
  return name === undefined ? undefined : UNOFFERED[name];
}
