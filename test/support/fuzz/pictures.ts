import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/** Pixels of every sound picture. */
export const PICTURE = { width: 8, height: 6 } as const;

const plain = () => sharp({ create: { ...PICTURE, channels: 3, background: '#8090a0' } });

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A PNG that says it has so many grey pixels; `data` is what its one IDAT chunk unpacks to. */
function png(width: number, height: number, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(data)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const pngBytes = await plain().png().toBuffer();
const jpegBytes = await plain().jpeg().toBuffer();
const gifBytes = await plain().gif().toBuffer();
const html = Buffer.from('<html><script>alert(1)</script></html>');
const pdf = Buffer.from('%PDF-1.4\n1 0 obj\nendobj\n%%EOF\n');

/** A GIF whose screen has as many pixels as can be written. */
const wideGif = Buffer.from(gifBytes);
wideGif.writeUInt16LE(65_535, 6);
wideGif.writeUInt16LE(65_535, 8);

/** Files by what is special about them: sound ones, bombs, empty ones and ones that are two things at once. */
export const FILES: Readonly<Record<string, Buffer>> = {
  png: pngBytes,
  jpeg: jpegBytes,
  turned: await plain().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
  gif: gifBytes,
  pdf,
  'one byte': Buffer.from('x'),
  nothing: Buffer.alloc(0),
  'png of no pixels': png(0, 0, Buffer.alloc(0)),
  'png of no height': png(5, 0, Buffer.alloc(0)),
  'pixel bomb': png(60_000, 60_000, Buffer.alloc(1000)),
  'pixel bomb of one line': png(2 ** 31 - 1, 1, Buffer.alloc(1000)),
  'decompression bomb': png(8, 6, Buffer.alloc(20_000_000)),
  'wide gif': wideGif,
  svg: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>',
  ),
  webp: await plain().webp().toBuffer(),
  tiff: await plain().tiff().toBuffer(),
  'gif and page': Buffer.concat([gifBytes, html]),
  'png and pdf': Buffer.concat([pngBytes, pdf]),
  'jpeg and zip': Buffer.concat([jpegBytes, Buffer.from('504b030414000000', 'hex')]),
  'pdf and png': Buffer.concat([pdf, pngBytes]),
};
