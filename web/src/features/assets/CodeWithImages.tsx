import { useQueryClient } from "@tanstack/react-query";
import { Image } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Code, type CodeProps } from "../../ui/Code";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import css from "./Assets.module.css";
import { failureOf, filesOf, hasFiles, isCode, markupOf, upload } from "./assets";
import { within } from "../../base/queries";

const AssetPicker = lazyComponent(() => import("./AssetPicker"));

const words = catalogue("assets.codeWithImages", { insert: "Insert image" });

/** CodeWithImages is a code editor into which images of the account are inserted: chosen, dropped or pasted. */
export function CodeWithImages({ format, ...props }: CodeProps & { format: "mjml" | "html" }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /assets");
	const [choosing, setChoosing] = useState(false);
	const [inserted, setInserted] = useState<{ text: string } | null>(null);
	const uploadFiles = async (files: File[]) => {
		for (const file of files) {
			try {
				setInserted({ text: markupOf(await upload(file), format) });
				void client.invalidateQueries(within("assets"));
			} catch (error) {
				toast(failureOf(file, error), { tone: "danger" });
			}
		}
	};
	if (props.readOnly) return <Code {...props} />;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: dropping and pasting are ways besides the button
		<div
			className={css.code}
			onDragOver={(e) => hasFiles(e.dataTransfer) && e.preventDefault()}
			onDropCapture={(event) => {
				const files = filesOf(event.dataTransfer);
				if (files.every(isCode) || disabledReason) return;
				event.preventDefault();
				event.stopPropagation();
				void uploadFiles(files);
			}}
			onPasteCapture={(event) => {
				const files = filesOf(event.clipboardData);
				if (files.every(isCode) || disabledReason) return;
				event.preventDefault();
				event.stopPropagation();
				void uploadFiles(files);
			}}
		>
			<div>
				<Button
					small
					variant="quiet"
					icon={<Image aria-hidden />}
					disabledReason={disabledReason}
					onClick={() => setChoosing(true)}
				>
					{words.insert}
				</Button>
			</div>
			<Code {...props} insert={inserted} />
			{choosing && (
				<Suspense fallback={null}>
					<AssetPicker
						onClose={() => setChoosing(false)}
						onPick={(asset) => {
							setChoosing(false);
							setInserted({ text: markupOf(asset, format) });
						}}
					/>
				</Suspense>
			)}
		</div>
	);
}
