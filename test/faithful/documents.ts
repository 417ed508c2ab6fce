import { isObject } from './bodies.ts';
import type { Call, World } from './call.ts';
import { extensionOf, hasExtension } from './mimetypes.ts';
import { decline, refuse } from './refusal.ts';
import type { Fields } from './store.ts';

const OWNERS = ['ownerOrganization', 'ownerPatient', 'ownerPerioExam'] as const;

/** The owner fields of a new document: the requesting organization where none is sent. */
export function ownerOf({ world }: Call, sent: Fields): Fields {
  const named = OWNERS.filter((name) => sent[name] !== undefined);
  if (named.length > 1) refuse(`${named.join(', ')}: a document has one owner.`);
  const { organization, shelves, perioExams } = world.practice;
  const [name = 'ownerOrganization'] = named;
  const link = name === 'ownerOrganization' ? (sent[name] ?? { id: organization }) : sent[name];
  const id = isObject(link) && Object.keys(link).join() === 'id' ? link.id : refuse(`${name} takes { id }.`);
  const known =
    name === 'ownerOrganization'
      ? id === organization
      : name === 'ownerPatient'
        ? shelves.patients.get(Number(id)) !== undefined
        : perioExams.includes(Number(id));
  if (!known) decline(400, `${name}.id ${String(id)} is not known.`);
  const none = Object.fromEntries(OWNERS.map((owner) => [owner, null]));
  return { ownerType: name.slice('owner'.length), ...none, [name]: { id } };
}

/** The name under which a document is stored (Document, rules 2 and 3); `name` has no extension of the type yet. */
export function named({ world }: Call, name: string, mimeType: string, owner: Fields): string {
  if (hasExtension(name, mimeType)) refuse(`name is sent without the extension of its type, not as ${name}.`);
  const extension = extensionOf(mimeType, world.moods);
  const taken = new Set(
    world.practice.shelves.documents
      .all()
      .filter(({ record }) => sameOwner(record, owner) && record.id !== owner.id)
      .map(({ record }) => String(record.name).replace(/\.[^.]*$/, '')),
  );
  let free = name;
  for (let number = 1; taken.has(free); number++) free = `${name} (${number})`;
  return `${free}.${extension}`;
}

/** Tag names as they are stored: an existing one, in whatever letter case, is used again. */
export function taggedAs(world: World, tags: readonly string[]): string[] {
  const known = new Map(
    world.practice.shelves.documents
      .all()
      .flatMap(({ record }) => record.tags as string[])
      .map((tag) => [tag.toLowerCase(), tag]),
  );
  for (const tag of tags) if (!known.has(tag.toLowerCase())) known.set(tag.toLowerCase(), inCase(tag, world));
  return [...new Set(tags.map((tag) => known.get(tag.toLowerCase()) ?? tag))];
}

/** The bytes of base64 text. */
export function contentOf(content: string): Buffer {
  const whole = content.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(content);
  return whole ? Buffer.from(content, 'base64') : refuse('file.content is not base64.');
}

function inCase(tag: string, { moods }: World): string {
  if (moods.tagCase === 'asSent') return tag;
  return moods.tagCase === 'upper' ? tag.toUpperCase() : tag.toLowerCase();
}

function sameOwner(one: Fields, other: Fields): boolean {
  return OWNERS.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
}
