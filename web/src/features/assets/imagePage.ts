/** imagePage returns a page that shows an image of an address. */
export function imagePage(address: string): string | null {
	if (!/^https?:\/\//.test(address)) return null;
	const page = document.implementation.createHTMLDocument();
	const img = page.createElement("img");
	img.src = address;
	img.alt = "";
	img.style.cssText = "display: block; width: 100%; height: 100vh; object-fit: contain";
	page.body.style.margin = "0";
	page.body.append(img);
	return page.documentElement.outerHTML;
}
