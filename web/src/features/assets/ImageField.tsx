import { useQueryClient } from "@tanstack/react-query";
import { Image } from "lucide-react";
import { type ReactNode, Suspense, useRef, useState } from "react";
import type { AssetRow } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import css from "./Assets.module.css";
import { failureOf, filesOf, hasFiles, upload } from "./assets";
import { within } from "../../base/queries";

const AssetPicker = lazyComponent(() => import("./AssetPicker"));

const words = catalogue("assets.imageField", { choose: "Choose image" });

/** ImageField adds the images of the account to a field for the address of an image: chosen, dropped or pasted. */
export function ImageField({
	onChange,
	className,
	readOnly,
	mailWidth,
	tools,
	children,
}: {
	onChange: (url: string, asset: AssetRow) => void;
	className?: string;
	readOnly?: boolean;
	/** How wide the mail is, in pixels. */
	mailWidth?: number;
	/** What stands beside the button. */
	tools?: ReactNode;
	children: ReactNode;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /assets");
	const [choosing, setChoosing] = useState(false);
	const [dragging, setDragging] = useState(false);
	const [busy, setBusy] = useState(false);
	const latest = useRef(onChange); // what is typed during an upload stays
	latest.current = onChange;
	const uploadFiles = async (file: File | undefined) => {
		if (!file || disabledReason) return;
		setBusy(true);
		try {
			const asset = await upload(file, mailWidth);
			latest.current(asset.url, asset);
			void client.invalidateQueries(within("assets"));
		} catch (error) {
			toast(failureOf(file, error), { tone: "danger" });
		} finally {
			setBusy(false);
		}
	};
	if (readOnly) return <div className={className}>{children}</div>;
	return (
		<>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: dropping and pasting are ways besides the button */}
			<div
				className={[className, css.over].filter(Boolean).join(" ")}
				data-over={dragging || undefined}
				onDragOver={(event) => {
					if (!hasFiles(event.dataTransfer)) return;
					event.preventDefault();
					setDragging(true);
				}}
				onDragLeave={() => setDragging(false)}
				onDrop={(event) => {
					setDragging(false);
					const [file] = filesOf(event.dataTransfer);
					if (!file) return;
					event.preventDefault();
					void uploadFiles(file);
				}}
				onPasteCapture={(event) => {
					const [file] = filesOf(event.clipboardData);
					if (!file) return;
					event.preventDefault();
					event.stopPropagation();
					void uploadFiles(file);
				}}
			>
				{children}
			</div>
			<div className={css.buttons}>
				<Button
					small
					icon={<Image aria-hidden />}
					disabledReason={disabledReason}
					busy={busy}
					onClick={() => setChoosing(true)}
				>
					{words.choose}
				</Button>
				{tools}
			</div>
			{choosing && (
				<Suspense fallback={null}>
					<AssetPicker
						mailWidth={mailWidth}
						onClose={() => setChoosing(false)}
						onPick={(asset) => {
							setChoosing(false);
							onChange(asset.url, asset);
						}}
					/>
				</Suspense>
			)}
		</>
	);
}
