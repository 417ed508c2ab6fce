import { imageAttachments } from '../../catalog/resources/imageattachments.ts';
import { asyncListCommand } from '../../cli/streaming/asynclist.ts';

export default class ImageattachmentsList extends asyncListCommand(imageAttachments) {
  static override description =
    'The API delivers them over its stream only: they are collected first, and written when all have arrived. Where the service has no stream that molar can read, they are requested ten at a time. --async may be left out.';
  static override examples = [
    '<%= config.bin %> imageattachments list --claim 1900000000001',
    '<%= config.bin %> imageattachments list --out attachments.csv',
  ];
}
