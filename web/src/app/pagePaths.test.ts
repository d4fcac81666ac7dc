import { equals, type Tests } from "../base/testing";
import { listOf, pageAt } from "./pagePaths";

const pages = [
	"/",
	"/contacts",
	"/contacts/import",
	"/contacts/:id",
	"/broadcasts/:id/report",
	"/broadcasts/:id/recipients/:contact",
	"/mailbox/:lane/:id",
].map((path) => ({ path }));

const tests: Tests = {
	"an address is that of one page"() {
		const addresses: [address: string, want: string | undefined][] = [
			["/", "/"],
			["/?welcome=1", "/"],
			["/contacts", "/contacts"],
			["/contacts?tab=lists&q=a/b", "/contacts"],
			["/contacts#top", "/contacts"],
			["/contacts/import", "/contacts/import"],
			["/contacts/con_1", "/contacts/:id"],
			["/contacts/con_1?tab=mail", "/contacts/:id"],
			["/contacts/", undefined],
			["/contacts/con_1/more", undefined],
			["/contact", undefined],
			["", undefined],
			["/broadcasts/b/report", "/broadcasts/:id/report"],
			["/broadcasts/b/recipients/c", "/broadcasts/:id/recipients/:contact"],
			["/broadcasts/b", undefined],
			["/mailbox/default/m", "/mailbox/:lane/:id"],
		];
		for (const [address, expected] of addresses) equals(pageAt(pages, address)?.path, expected, address);
	},
	"the page of a record has a list"() {
		const lists: [path: string, want: string][] = [
			["/", "/"],
			["/contacts", "/contacts"],
			["/contacts/:id", "/contacts"],
			["/broadcasts/:id/recipients/:contact", "/broadcasts"],
			["/settings/webhooks/:id", "/settings/webhooks"],
		];
		for (const [path, expected] of lists) equals(listOf(path), expected, path);
	},
};

export default tests;
