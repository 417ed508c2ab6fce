import { BookmarkListCommand, bookmarkListFlags } from '../../../cli/exporting/bookmarkcommands.ts';

export default class ExportBookmarksList extends BookmarkListCommand {
  static override summary = 'List the bookmarks of --since-last';
  static override examples = [
    '<%= config.bin %> export bookmarks list',
    '<%= config.bin %> export bookmarks list --json',
  ];
  static override flags = bookmarkListFlags;
}
