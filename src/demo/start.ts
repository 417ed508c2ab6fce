import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../catalog/scopes.ts';
import { moveFile, writeDurably } from '../filesystem/durable.ts';
import { isOurs, replacePrivate } from '../filesystem/private.ts';
import { nowOf } from '../server/clock.ts';
import type { OpenFolder } from '../server/datafolder.ts';
import { hasImageLibrary } from '../server/files/images.ts';
import { importRecords } from '../server/import/importer.ts';
import { numberRecords } from '../server/import/lines.ts';
import { findOrganization } from '../server/organizations.ts';
import type { Demo } from '../server/serve.ts';
import { readRights } from '../server/tokens/rights.ts';
import { newToken, saveToken } from '../server/tokens/tokens.ts';
import { settingsFiles } from '../shells/settings.ts';
import { type DemoRecord, DEMO_ORGANIZATION_ID as organization, type Size } from './practice.ts';
import { demoActivity, demoRecords } from './records.ts';

/** The demo practice as `serve` takes it: fills the folder the first time, and leaves one that has it as it is. */
export function demoOf(size: Size): Demo {
  return async (folder) => {
    await seedDemo(folder, size);
    const token = await grantToken(folder);
    return async (url) => ({ organization, settings: await writeDemoSettings(folder, url, token) });
  };
}

async function seedDemo({ service }: OpenFolder, size: Size): Promise<void> {
  if ((await findOrganization(service.store.read, organization)) !== undefined) return;
  const today = nowOf(service).slice(0, 10);
  // Like the records of a practice that was there before its stream.
  await importRecords(service, () => numberRecords(recordsOf(size, today)), { unpublished: true });
}

/** Two years of a practice; the large one is patients and documents only, for trying out size. */
function* recordsOf(size: Size, today: string): Generator<DemoRecord> {
  const crops = hasImageLibrary();
  for (const record of demoRecords(size, { today })) yield crops ? record : uncropped(record);
  if (size !== 'large') yield* demoActivity(size, { today });
}

/** The record without a crop, which a server without the image library refuses. */
function uncropped(record: DemoRecord): DemoRecord {
  if (record.type !== 'DocumentV1') return record;
  const { content } = record.file as { readonly content: string };
  return { ...record, file: { content } };
}

/** The token of an earlier start or a new one, valid for everything in the demo practice, for 90 days from each start. */
async function grantToken({ service, path }: OpenFolder): Promise<string> {
  const earlier = await readOwn(join(path, 'demo.env')).catch(() => '');
  const token = /MOLAR_TOKEN='([^']+)'/.exec(earlier)?.[1] ?? newToken();
  const request = { organizations: [organization], scopes: [...SCOPES], label: 'demo', readOnly: false };
  const terms = await readRights(service, request);
  await service.store.write((tx) => saveToken(tx, token, terms));
  return token;
}

/** The text of a file that we left; a token that another user has put there is not granted anything. */
async function readOwn(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return isOurs(await file.stat()) ? await file.readFile('utf8') : '';
  } finally {
    await file.close();
  }
}

/**
 * Writes the connection to files that shells can read, for their owner only; tokens go into no log. Returns their path
 * without extensions.
 */
export async function writeDemoSettings({ path }: OpenFolder, url: string, token: string): Promise<string> {
  const variables = { MOLAR_URL: url, MOLAR_ORGANIZATION: organization, MOLAR_TOKEN: token };
  const settings = join(path, 'demo');
  for (const { extension, text } of settingsFiles(variables)) {
    const fresh = `${settings}${extension}.new`;
    // Neither through a link nor into a file that others have open.
    await writeDurably(await replacePrivate(fresh), text);
    await moveFile(fresh, settings + extension);
  }
  return settings;
}
