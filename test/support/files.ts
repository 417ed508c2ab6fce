/** Small whole files in base64, made by hand: a text that calls itself PDF, and images of one pixel. */
export const PDF = Buffer.from('%PDF-1.4\nmolar test\n%%EOF\n').toString('base64');

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** The first bytes of a JPEG and nothing more: enough for its signature, not for a picture. */
export const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex').toString('base64');
